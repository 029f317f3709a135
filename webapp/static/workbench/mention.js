// Correcting a mention: words that are selected become one, its ends are dragged or moved by keys, its claim is changed.

import { byId, fill, h, say, words } from "./page.js";
import { placeAt, wordEdge } from "./marks.js";
import { claimOf } from "./state.js";

const LONGEST = 200; // characters of a mention
const CLAIMS = { g: "present", v: "suspected", z: "history", a: "excluded", f: "family", j: "other", p: "hypothetical" };

export class MentionBar {
  // `own()`: the text shown with its mentions; `correct(span, claim)`: somebody says so; `leave()`: where the focus goes
  // then; `undo()`; `quiet()`: whether letters are no keys.
  constructor({ text, own, correct, leave, undo, quiet }) {
    Object.assign(this, { text, own, correct, leave, undo, quiet, box: byId("mention"), span: null });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.grips = ["start", "end"].map((side) => h("span", { class: `grip ${side}`, "aria-hidden": "true", onpointerdown: (event) => this.drag(event, side) }));
    text.after(...this.grips);
  }

  get number() {
    return this.span ? this.own().mentions.findIndex(({ span }) => span.start === this.span.start && span.end === this.span.end) : -1;
  }

  // The words that are selected in the text, or the mention the cursor stands in.
  fromText() {
    const characters = (until) => Array.from(this.text.value.slice(0, until)).length;
    let [start, end] = [characters(this.text.selectionStart), characters(this.text.selectionEnd)];
    const all = Array.from(this.own().text);
    while (start < end && !all[start].trim()) start += 1;
    while (start < end && !all[end - 1].trim()) end -= 1;
    const line = !all.slice(start, end).includes("\n") && end - start <= LONGEST;
    if (start < end) return this.show(line ? { start, end } : null);
    return this.show(this.own().mentions.find(({ span }) => span.start <= start && start <= span.end)?.span ?? null);
  }

  hide() {
    this.show(null);
  }

  // Shows what can be said of these words.
  show(span) {
    this.span = span;
    const held = this.box.contains(document.activeElement) ? document.activeElement.dataset.claim ?? "" : null;
    this.box.hidden = !span;
    byId("legend").hidden = Boolean(span);
    this.place();
    if (!span) return this.box.replaceChildren();
    const mention = this.own().mentions[this.number];
    const said = Array.from(this.own().text).slice(span.start, span.end).join("");
    const button = (key, claim, name) => h("button", { type: "button", class: "act", "data-claim": claim ?? "", "aria-pressed": String(Boolean(mention) && claim === claimOf(mention)), title: `${name} (${key})`, onclick: () => this.say(claim) }, name, " ", h("kbd", {}, key));
    this.box.replaceChildren(h("strong", {}, `„${said}“`), ...Object.entries(CLAIMS).map(([key, claim]) => button(key.toUpperCase(), claim, words.claims[claim])),
      ...(mention ? [button("X", null, words.no_mention)] : []), h("span", { class: "hint" }, words.ends));
    if (held !== null) this.focus(held);
  }

  // What was shown is shown again, or goes with its mention.
  renew() {
    if (!this.span) return;
    if (this.number >= 0) this.show(this.span);
    else this.hide();
  }

  focus(claim) {
    const at = claim || this.box.querySelector('[aria-pressed="true"]')?.dataset.claim || "present";
    this.box.querySelector(`[data-claim="${at}"]`)?.focus();
  }

  say(claim, span = this.span) {
    const focused = this.box.contains(document.activeElement);
    this.span = claim ? span : null;
    this.correct(span, claim);
    this.show(this.span);
    say(fill(words.corrected, { words: Array.from(this.own().text).slice(span.start, span.end).join(""), claim: claim ? words.claims[claim] : words.no_mention }), true);
    if (focused && !this.span) this.leave();
    else if (focused) this.focus(claim);
  }

  move(side, place) {
    const span = { ...this.span, [side]: place };
    const mention = this.own().mentions[this.number];
    if (span.start >= span.end || span.end - span.start > LONGEST) return;
    if (mention) this.say(claimOf(mention), span);
    else this.show(span);
  }

  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const letter = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || (event.key.length === 1 && this.quiet())) return;
    const side = event.shiftKey ? "start" : "end";
    const go = by ? () => this.move(side, wordEdge(Array.from(this.own().text), this.span[side], side, by))
      : letter in CLAIMS ? () => this.say(CLAIMS[letter])
      : ["x", "delete"].includes(letter) ? () => this.number >= 0 && this.say(null)
      : letter === "u" ? () => { this.undo(); if (!this.span) this.leave(); }
      : event.key === "Escape" ? () => this.leave() : null;
    if (!go) return;
    event.preventDefault();
    event.stopPropagation();
    go();
  }

  // The grips at the ends of the mention.
  place() {
    for (const grip of this.grips) grip.hidden = !this.span;
    if (!this.span) return; // asking where anything is makes the browser lay the page out
    const marks = byId("marks");
    const mark = this.span ? marks.querySelector(`[data-mention="${this.number}"]`) : null;
    const [rects, frame] = [mark?.getClientRects() ?? [], marks.getBoundingClientRect()];
    for (const [grip, rect, edge] of [[this.grips[0], rects[0], "left"], [this.grips[1], rects[rects.length - 1], "right"]]) {
      grip.hidden = !rect;
      if (rect) Object.assign(grip.style, { left: `${rect[edge] - frame.left}px`, top: `${rect.top - frame.top}px`, height: `${rect.height}px` });
    }
  }

  drag(event, side) {
    event.preventDefault();
    const grip = event.target;
    grip.setPointerCapture(event.pointerId);
    let to = this.span[side];
    const move = ({ clientX, clientY }) => {
      const place = placeAt(byId("marks"), clientX, clientY);
      if (place !== null) to = wordEdge(Array.from(this.own().text), place, side);
      const frame = byId("marks").getBoundingClientRect();
      Object.assign(grip.style, { left: `${clientX - frame.left}px` });
    };
    const end = () => {
      grip.removeEventListener("pointermove", move);
      this.move(side, to);
      this.place();
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", end, { once: true });
    grip.addEventListener("pointercancel", end, { once: true });
  }
}
