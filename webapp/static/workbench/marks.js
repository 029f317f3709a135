// The text's mentions, marked in place: a layer behind the text box with the same words in the same places.

import { h } from "./page.js";

export const kindOf = (mention) => (mention.claim === "present" && !mention.codes.length ? "none" : mention.claim);

// `spans` count code points, as the API does. What is drawn already stays: the browser lays out only what is new.
let drawn = { text: null, mentions: null };
export function draw(layer, text, mentions, active) {
  if (drawn.text === text && drawn.mentions === mentions) {
    for (const mark of layer.children) mark.classList.toggle("active", active.has(Number(mark.dataset.mention)));
    return;
  }
  drawn = { text, mentions };
  const characters = Array.from(text);
  const pieces = [];
  let at = 0;
  for (const [number, mention] of mentions.entries()) {
    const { start, end } = mention.span;
    if (start < at || end > characters.length) continue;
    pieces.push(characters.slice(at, start).join(""));
    const classes = ["m", kindOf(mention), active.has(number) ? "active" : ""].join(" ").trim();
    pieces.push(h("mark", { class: classes, "data-mention": number }, characters.slice(start, end).join("")));
    at = end;
  }
  pieces.push(characters.slice(at).join("") + "\n");
  layer.replaceChildren(...pieces);
}

// The mention under the pointer; the layer lies behind the text box, which gets the events.
export function under(event) {
  const mark = document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.mention);
  return mark ? Number(mark.dataset.mention) : null;
}

// The mention the cursor stands in.
export function atCursor(box, mentions) {
  const place = Array.from(box.value.slice(0, box.selectionStart)).length;
  const found = mentions.findIndex(({ span }) => span.start <= place && place <= span.end);
  return found < 0 ? null : found;
}

// The nearest end of a word ("start" or "end") to a place, or with `by` the next one in that direction.
const WORD = /[\p{L}\p{M}\p{N}]/u;
export function wordEdge(characters, place, side, by = 0) {
  const is = (at) => (side === "start" ? WORD.test(characters[at] ?? "") && !WORD.test(characters[at - 1] ?? "") : WORD.test(characters[at - 1] ?? "") && !WORD.test(characters[at] ?? ""));
  for (let far = by ? 1 : 0; far <= characters.length; far += 1) {
    const found = (by ? [place + by * far] : [place - far, place + far]).find((at) => at >= 0 && at <= characters.length && is(at));
    if (found !== undefined) return found;
  }
  return place;
}

// The place of the text, in code points, at a point of the window; what lies before the layer lets the point through.
export function placeAt(layer, x, y) {
  const others = [...layer.parentElement.children].filter((one) => one !== layer);
  for (const one of others) one.style.pointerEvents = "none";
  const at = document.caretPositionFromPoint ? document.caretPositionFromPoint(x, y) : document.caretRangeFromPoint(x, y);
  for (const one of others) one.style.pointerEvents = "";
  const [node, offset] = at ? [at.offsetNode ?? at.startContainer, at.offset ?? at.startOffset] : [null, 0];
  if (!node || !layer.contains(node)) return null;
  const before = document.createRange();
  before.setStart(layer, 0);
  before.setEnd(node, offset);
  return Array.from(before.toString()).length;
}

// The words a card rests on, for reading out and for those who do not see the marks.
export function quote(card, text) {
  return card.evidence ? Array.from(text).slice(card.evidence.start, card.evidence.end).join("") : "";
}
