// The codes as cards: title, confidence in words, certainty and side, why, what goes together, what else there is.

import { fill, given, h, words } from "./page.js";
import { quote } from "./marks.js";
import { UNDECIDED } from "./state.js";

const address = (code) => given.urls.code.replace("CODE", encodeURIComponent(code));

// One row of one-key choices; the chosen one is pressed.
function choices(name, order, options, chosen, pick) {
  return h("span", { class: "segments", role: "group", "aria-label": name },
    order.map((letter) => [letter, options[letter]]).map(([letter, meaning]) => h("button", { type: "button", class: "segment", "data-pick": letter, "aria-pressed": String(letter === chosen),
      "aria-label": `${letter}: ${meaning}`, title: meaning, onclick: () => pick(letter) }, letter)));
}

// `one`: a card of the state; `own`: the text it is of; `catalog`: what is known of codes.
export function card(one, own, catalog, open, act, candidates) {
  if (one.code === UNDECIDED && !one.shown.code) return undecided(one, own, act, candidates);
  const { code, title } = one.shown;
  const mark = catalog[code]?.mark ?? "";
  return h("li", { class: `code-card ${one.state}${open ? " open" : ""}`, "data-code": one.shown.code, "data-key": one.key, tabindex: "-1", "aria-label": `${code} ${title}` },
    h("div", { class: "code-top" },
      h("a", { class: "code-name", href: address(code), target: "_blank", rel: "noopener" }, code + mark),
      choices(words.certainty_label, ["G", "V", "A", "Z"], words.certainty, one.certainty, (letter) => act("certainty", one, letter)),
      choices(words.side_label, ["R", "L", "B"], words.side, one.side, (letter) => act("side", one, letter)), acts(one, open, act)),
    h("p", { class: "code-title" }, title),
    h("p", { class: "code-why hint" }, h("span", { class: `dots ${one.shown.confidence ?? "hand"}`, "aria-hidden": "true" }), why(one, own).join(" · ")),
    one.partner ? pair(one, mark, catalog, act) : one.state !== "rejected" && lone(one, own, mark, catalog[code], act),
    one.shown.terminal === false && h("p", { class: "hint marks-of" }, words.not_terminal),
    one.state !== "rejected" && closer(one, catalog[code], act),
    open && more(one, own, catalog[one.code], act, candidates));
}

const MOST_CANDIDATES = 4;

// A mention without a code: what its words may mean, each a key; or no code, deliberately.
function undecided(one, own, act, candidates) {
  const phrase = quote(one, own.text);
  const found = candidates.get(phrase);
  const no = one.state === "rejected";
  return h("li", { class: `code-card undecided ${one.state}`, "data-code": "", "data-key": one.key, tabindex: "-1", "aria-label": `${phrase}: ${no ? words.deliberately_none : words.undecided}` },
    h("div", { class: "code-top" }, h("strong", {}, `„${phrase}“`), h("span", { class: "tag" }, no ? words.deliberately_none : words.undecided),
      h("div", { class: "code-acts" }, h("button", { type: "button", class: "act reject", "data-act": "reject", "aria-pressed": String(no), title: `${words.no_code} (X)`, onclick: () => act("reject", one) }, `✕ ${words.no_code}`))),
    !no && h("div", { class: "candidates" }, found ? list(found.slice(0, MOST_CANDIDATES), (code) => act("instead", one, code), true) : "",
      found?.length === 0 && h("p", { class: "hint" }, words.found_none)));
}

function acts(one, open, act) {
  const button = (what, name, pressed, shown, key) => h("button", { type: "button", class: `act ${what}`, "data-act": what, ...pressed, "aria-label": name, title: `${name} (${key})`, onclick: () => act(what, one) }, shown);
  const [yes, no] = [one.state === "accepted", one.state === "rejected"];
  return h("div", { class: "code-acts" },
    button("accept", yes ? words.accepted : words.accept, { "aria-pressed": String(yes) }, `✓ ${yes ? words.accepted : words.accept}`, "Enter"),
    button("reject", no ? words.rejected : words.reject, { "aria-pressed": String(no) }, no ? `✕ ${words.rejected}` : "✕", "X"),
    button("open", open ? words.close : words.alternatives, { "aria-expanded": String(open) }, open ? "▴" : "▾", "O"));
}

function why(one, own) {
  const text = quote(one, own.text);
  return [words.confidence[one.shown.confidence], text && `„${text}“`, one.assertion && one.assertion !== "present" && words.claims[one.assertion],
    one.stale ? words.stale : one.tier && one.tier < own.tier && fill(words.only_first, { n: one.tier }),
    one.shown.code !== one.code && one.code !== UNDECIDED && fill(words.instead, { code: one.code })].filter(Boolean);
}

function pair(one, mark, catalog, act) {
  const { code, title, goes } = one.partner;
  const shown = code + (catalog[code]?.mark ?? "");
  return h("p", { class: "pair" }, h("strong", {}, words.together + " "), `${one.code}${mark} + ${shown} `, h("span", { class: "hint" }, title),
    one.state === "accepted" && !goes && h("span", { class: "lacks" }, fill(words.lacks, { code: shown }), " "),
    one.state === "accepted" && h("button", { type: "button", class: "act", "data-act": "join", "aria-pressed": String(goes), onclick: () => act("join", one, !goes) }, (goes ? "✓ " : "") + fill(words.join, { code: shown })));
}

// A dagger or asterisk code whose other half is not there: what is missing, each a button that adds it.
const MOST_HALVES = 6;
function lone(one, own, mark, about, act) {
  const halves = about?.pairs ?? [];
  const there = new Set([...own.entries.map(({ code }) => code), ...own.decisions.map(({ code, as }) => as?.code ?? code)]);
  if (!["†", "*"].includes(mark) || !halves.length || halves.some(({ code }) => there.has(code))) return false;
  return h("p", { class: "pair" }, h("span", { class: "lacks" }, mark === "†" ? words.lacks_asterisk : words.lacks_dagger), " ",
    halves.slice(0, MOST_HALVES).map((half) => h("button", { type: "button", class: "act", "data-half": half.code, title: half.title, onclick: () => act("add", one, half) }, `+ ${half.code}${half.mark} ${lastPart(half.title)}`)));
}

// What the code leaves open and the catalog has: each a button that puts it in the code's place.
const MOST_CLOSER = 8;
function closer(one, about, act) {
  const near = about ? [...about.below ?? [], ...about.beside ?? []] : [];
  const codes = one.shown.terminal === false ? about?.below ?? [] : near.filter(({ title }) => one.missing.includes(title));
  return codes.length > 0 && h("p", { class: "closer" }, h("span", { class: "hint" }, words.more_specific), " ", codes.slice(0, MOST_CLOSER).map((code) => h("button", { type: "button", class: "act", "data-closer": code.code, title: code.title, onclick: () => act("instead", one, code) },
    h("strong", {}, code.code), " ", lastPart(code.title))));
}

const lastPart = (title) => title.split(": ").at(-1);

function more(one, own, about, act, candidates) {
  const known = { above: [], below: [], beside: [], notes: [], use: "", ...about };
  const notes = [...one.notes.map((text) => ({ kind: "coding-hint", text, codes: [] })), ...known.notes];
  return h("div", { class: "more" },
    one.reasoning && h("p", {}, one.reasoning),
    others(one, own, act, candidates),
    known.use && h("p", { class: "hint" }, known.use),
    notes.length > 0 && h("dl", { class: "notes-list" }, notes.slice(0, 30).flatMap((note) => [h("dt", {}, words.notes[note.kind] ?? note.kind), h("dd", {}, note.text, note.codes.length ? ` (${note.codes.join(", ")})` : "")])),
    ...["below", "beside", "above"].filter((where) => known[where].length).map((where) => h("div", {}, h("h3", {}, words[where]), list(known[where], (code) => act("instead", one, code)))));
}

// What the same words may mean besides.
const MOST_OTHERS = 6;
function others(one, own, act, candidates) {
  const found = (candidates.get(quote(one, own.text)) ?? []).filter(({ code }) => code !== one.shown.code).slice(0, MOST_OTHERS);
  return found.length > 0 && h("div", {}, h("h3", {}, words.may_mean), list(found, (code) => act("instead", one, code)));
}

export function list(codes, pick, numbered = false) {
  return h("ul", { class: "choices" }, codes.map((code, place) => h("li", {}, h("button", { type: "button", class: "choice", "data-choice": code.code, onclick: () => pick(code) },
    numbered && h("kbd", {}, String(place + 1)), numbered && " ", h("strong", {}, code.code + code.mark), " ", code.title))));
}

const reason = (why) => words.none[why] ?? why;

// Mentions that have no code for a reason, in the order of the text; undecided ones are among the cards.
// A click goes to the words.
export const withoutCode = (own, go) => [...own.mentions.entries()].filter(([, mention]) => !mention.codes.length && mention.reason !== "no-code-found").map(([number, mention]) => h("li", {},
  h("button", { type: "button", class: `words m ${mention.claim === "present" ? "none" : mention.claim}`, title: words.correct, onclick: () => go(number) }, Array.from(own.text).slice(mention.span.start, mention.span.end).join("")),
  " ", h("span", { class: "hint" }, reason(mention.reason))));
