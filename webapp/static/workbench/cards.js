// The codes as cards: title, confidence in words, certainty and side, why, what goes together, what else there is.

import { fill, given, h, words } from "./page.js";
import { choiceOf } from "./state.js";
import { quote } from "./marks.js";

const address = (code) => given.urls.code.replace("CODE", encodeURIComponent(code));

// One row of one-key choices; the chosen one is pressed.
function choices(name, order, options, chosen, pick) {
  return h("span", { class: "segments", role: "group", "aria-label": name },
    order.map((letter) => [letter, options[letter]]).map(([letter, meaning]) => h("button", { type: "button", class: "segment", "data-pick": letter, "aria-pressed": String(letter === chosen),
      "aria-label": `${letter}: ${meaning}`, title: meaning, onclick: () => pick(letter) }, letter)));
}

export function card(state, entry, info, open, act) {
  const choice = choiceOf(state, entry.code);
  const shown = choice.as ?? { code: entry.code, title: entry.description };
  const about = info.get(shown.code);
  const certainty = choice.certainty ?? entry.certainty;
  return h("li", { class: `code-card ${choice.state}${open ? " open" : ""}`, "data-code": entry.code, tabindex: "-1", "aria-label": `${shown.code} ${shown.title}` },
    h("div", { class: "code-top" },
      h("a", { class: "code-name", href: address(shown.code), target: "_blank", rel: "noopener" }, shown.code + (about?.mark ?? "")),
      choices(words.certainty_label, ["G", "V", "A", "Z"], words.certainty, certainty, (letter) => act("certainty", entry, letter)),
      choices(words.side_label, ["R", "L", "B"], words.side, choice.side ?? entry.side, (letter) => act("side", entry, letter)), acts(entry, choice, open, act)),
    h("p", { class: "code-title" }, shown.title),
    h("p", { class: "code-why hint" }, ...why(state, entry, choice)),
    ...pairs(entry, choice, about),
    ...warnings(entry, about),
    open && more(entry, info.get(entry.code), act));
}

function acts(entry, choice, open, act) {
  const button = (what, name, pressed, shown, key) => h("button", { type: "button", class: `act ${what}`, "data-act": what, ...pressed, "aria-label": name, title: `${name} (${key})`, onclick: () => act(what, entry) }, shown);
  const [yes, no] = [choice.state === "accepted", choice.state === "rejected"];
  return h("div", { class: "code-acts" },
    button("accept", yes ? words.accepted : words.accept, { "aria-pressed": String(yes) }, `✓ ${yes ? words.accepted : words.accept}`, "Enter"),
    button("reject", no ? words.rejected : words.reject, { "aria-pressed": String(no) }, no ? `✕ ${words.rejected}` : "✕", "X"),
    button("open", open ? words.close : words.alternatives, { "aria-expanded": String(open) }, open ? "▴" : "▾", "O"));
}

function why(state, entry, choice) {
  const said = [words.confidence[entry.confidence]].filter(Boolean);
  const text = quote(entry, state.text);
  if (text) said.push(`„${text}“`);
  if (entry.assertion && entry.assertion !== "present") said.push(words.claims[entry.assertion]);
  if (entry.tier && entry.tier < state.tier) said.push(fill(words.only_first, { n: entry.tier }));
  if (choice.as) said.push(fill(words.instead, { code: entry.code }));
  return [h("span", { class: `dots ${entry.confidence}`, "aria-hidden": "true" }), said.join(" · ")];
}

function pairs(entry, choice, about) {
  if (choice.as || !entry.pair) return [];
  return [h("p", { class: "pair" }, h("strong", {}, words.together + " "), `${entry.code}${about?.mark ?? ""} + ${entry.pair} `, h("span", { class: "hint" }, entry.pairTitle ?? ""))];
}

function warnings(entry, about) {
  const said = [entry.terminal === false ? words.not_terminal : "", about?.sex, about?.ages].filter(Boolean);
  return said.length ? [h("p", { class: "hint marks-of" }, said.join(" · "))] : [];
}

function more(entry, about, act) {
  const known = about ?? { above: [], below: [], beside: [], notes: [], pairs: [], use: "" };
  const notes = [...entry.notes.map((text) => ({ kind: "coding-hint", text, codes: [] })), ...known.notes];
  return h("div", { class: "more" },
    entry.reasoning && h("p", {}, entry.reasoning),
    entry.missing.length > 0 && h("div", { class: "missing" }, h("p", { class: "hint" }, words.more_specific), h("ul", {}, entry.missing.map((text) => h("li", {}, text)))),
    known.use && h("p", { class: "hint" }, known.use),
    notes.length > 0 && h("dl", { class: "notes-list" }, notes.slice(0, 30).flatMap((note) => [h("dt", {}, words.notes[note.kind] ?? note.kind), h("dd", {}, note.text, note.codes.length ? ` (${note.codes.join(", ")})` : "")])),
    ...["below", "beside", "above"].filter((where) => known[where].length).map((where) => h("div", {}, h("h3", {}, words[where]), list(known[where], (code) => act("instead", entry, code)))));
}

export function list(codes, pick) {
  return h("ul", { class: "choices" }, codes.map((code) => h("li", {}, h("button", { type: "button", class: "choice", "data-choice": code.code, onclick: () => pick(code) },
    h("strong", {}, code.code + code.mark), " ", code.title))));
}

export const withoutCode = (state) => state.mentions.filter((mention) => !mention.codes.length).map((mention) => h("li", {},
  h("span", { class: `m ${mention.claim === "present" ? "none" : mention.claim}` }, Array.from(state.text).slice(mention.span.start, mention.span.end).join("")),
  " ", h("span", { class: "hint" }, words.none[mention.reason] ?? words.none["no-code-found"])));
