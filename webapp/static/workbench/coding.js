// The page "Kodieren": the text to the left, its codes to the right, and keys for everything.

import { Work, byId, copy, download, failureOf, fill, given, h, onButtons, post, say, selection, showFailure, storedText, words } from "./page.js";
import { EMPTY, UNDECIDED, accepted, added, allProbable, back, begun, cards, cases, corrects, found, here, instead, joined, judged, learnt, marked, mentionsOf, next, placed, result, reviewed, told, turned, typed, undone, unknown } from "./state.js";
import { atCursor, draw, quote, under } from "./marks.js";
import { card, list, withoutCode } from "./cards.js";
import { Chips } from "./chips.js";
import { MentionBar } from "./mention.js";
import { bundle, csv, feedback, line, xdt } from "./outcome.js";
import { parts, together } from "./parts.js";

// The pause that ends typing. Between two keys people take 240 ms, fast ones 120 (Dhakal et al., CHI 2018): any pause
// below that asks at nearly every key, so a longer one would only be waited for; this one joins keys pressed together.
const PAUSE_MS = 30;
const USUAL_S = 3; // the search answers in a tenth of it
const MOST_LOOKED_UP = 60; // of which the catalog tells at once

const text = byId("text");
const selected = selection(text);
const work = new Work(() => clearTimeout(waiting));
let state = EMPTY;
let all = []; // the cards of the text shown
let at = 0; // the card the keys act on
let open = null; // the key of the card whose alternatives are shown
let replacedIn = null; // the state before the last text that took the place of nearly all of another
let active = new Set(); // the mentions that are tied to the card or the pointer
let failure = null;
let waiting = 0;

// --- calling -------------------------------------------------------------------------------------------------------

function research() {
  work.stop();
  failure = null;
  const query = here(state).text;
  if (!query.trim()) return show(state);
  showFailure(byId("failure"), null);
  for (const [phrase, known] of candidates) if (!known) candidates.delete(phrase);
  const pieces = parts(query, given.longest);
  const answers = pieces.map(({ text }) => read.get(text) ?? []);
  const missing = pieces.flatMap(({ text }, number) => (answers[number].length ? [] : [{ number, text }]));
  if (missing.length < pieces.length) takeAll(pieces, answers);
  if (!missing.length) return;
  work.each(running(1, pieces, answers), given.urls.events, missing.map(({ text }) => ({ query: text })), (event, which) => take(event, pieces, answers, missing[which].number), USUAL_S);
}

// The parts of a long text that were read to the end: an edit asks only about the part that it changed.
let read = new Map();

function running(tier, pieces, answers) {
  const done = answers.filter((events) => events.at(-1)?.layer === 3).length;
  return `${pieces.length > 1 ? `${fill(words.sections, { n: Math.min(done + 1, pieces.length), all: pieces.length })}, ` : ""}${fill(words.tier, { n: tier })}: ${words.tiers[tier]}`;
}

function take(event, pieces, answers, number) {
  if (event.type === "failure" || event.status === "error") return fail(event);
  if (event.type !== "partial" && event.type !== "result") return;
  answers[number] = [...answers[number], event];
  if (event.layer === 3 && pieces.length > 1) read = new Map(pieces.flatMap(({ text }, place) => (answers[place].at(-1)?.layer === 3 ? [[text, answers[place]]] : [])));
  takeAll(pieces, answers);
}

function takeAll(pieces, answers) {
  const event = pieces.length > 1 ? together(pieces, answers) : answers[0].at(-1);
  const before = accepted(state);
  show(found(state, event));
  const now = new Set(accepted(state).map(({ code }) => code));
  const gone = before.filter(({ code }) => !now.has(code));
  if (gone.length) say(fill(words.gone, { codes: line(gone) }));
  if (event.layer < 3) work.running.tell(running(event.layer + 1, pieces, answers));
  else if (!gone.length) say(words.ready);
  lookUp();
}

function fail(event) {
  failure = event.type === "failure" ? event : { part: words.tiers[Math.min(here(state).tier + 1, 3)], message: event.message, remedy: "" };
  showFailure(byId("failure"), failure, research);
}

// What the catalog adds to the codes shown: titles, marks, notes, neighbours.
async function lookUp() {
  const codes = unknown(state).slice(0, MOST_LOOKED_UP);
  if (!codes.length) return;
  try {
    const answer = await post(given.urls.lookup, { codes });
    if (!answer.ok) return;
    const told = await answer.json();
    show(learnt(state, Object.fromEntries(codes.map((code) => [code, told[code] ?? {}]))));
    lookUp();
  } catch { /* the codes are there, and what the catalog adds comes with the next ones */ }
}

// What words may mean, by the words: of what is undecided, one after the other; of a code, when it is asked for.
const candidates = new Map();
async function suggest() {
  const phrase = all.filter((one) => one.code === UNDECIDED).map((one) => quote(one, here(state).text)).find((one) => !candidates.has(one));
  if (phrase === undefined) return;
  candidates.set(phrase, null);
  candidates.set(phrase, await suggested(phrase));
  show(state);
}

async function suggested(phrase) {
  const answer = await fetch(given.urls.search, { method: "POST", body: new URLSearchParams({ q: phrase }), headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  return answer?.ok ? answer.json() : null; // nobody knows: it is asked again with the next reading
}

// Another text is shown: the next, the one before.
function go(changed) {
  work.stop();
  [open, failure, at, replacedIn] = [null, null, 0, null];
  show(changed);
  const own = here(state);
  if (text.value !== own.text) text.value = own.text;
  grow();
  if (own.text && own.tier < 3) research();
}

// --- showing -------------------------------------------------------------------------------------------------------

function show(changed) {
  state = changed;
  all = cards(state);
  const own = here(state);
  at = Math.max(0, Math.min(at, all.length - 1));
  const held = document.activeElement?.closest?.(".code-card")?.dataset.key;
  const inside = document.activeElement?.dataset ?? {};
  showCards(own);
  if (held) refocus(inside);
  byId("count").textContent = own.tier ? `${all.length} · ${fill(words.tier, { n: own.tier })}` : "";
  byId("empty").hidden = all.length > 0 || Boolean(own.text.trim() && !own.tier);
  byId("empty").textContent = own.tier ? words.no_codes : words.idle;
  showCases();
  byId("same").hidden = !replacedIn;
  const none = withoutCode(own, toMention);
  byId("without").replaceChildren(...(none.length ? [h("h2", {}, words.without_code), h("ul", { class: "without" }, none)] : []));
  showFailure(byId("failure"), failure, research);
  showResult();
  tie();
  grow();
  bar.renew();
  suggest();
}

// A card that would look the same stays as it is, with the focus in it.
let shown = new Map();
function showCards(own) {
  const list = byId("codes");
  const before = shown;
  shown = new Map(all.map((one) => {
    const { evidence, round, ...looks } = one;
    const text = quote(one, own.text);
    const sign = JSON.stringify([looks, text, Math.min(own.tier, 3), open === one.key, candidates.get(text)?.length, [one.code, one.shown.code, one.partner?.code].map((code) => Boolean(state.catalog[code])), own.decisions.length, own.entries.length]);
    const same = before.get(one.key)?.sign === sign;
    return [one.key, { sign, element: same ? before.get(one.key).element : card(one, own, state.catalog, open === one.key, act, candidates) }];
  }));
  for (const [place, { element }] of [...shown.values()].entries()) if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
  while (list.children.length > shown.size) list.lastChild.remove();
}

function showCases() {
  byId("cases").hidden = state.texts.length < 2;
  byId("cases").replaceChildren(...cases(state).map((one, place) => h("li", {}, h("button", { type: "button", class: `case ${one.state}`, "aria-current": place === state.at && "true", onclick: () => turn(turned(state, place)) },
    h("span", { class: "case-name" }, one.name || fill(words.case_of, { n: place + 1 })), " ", h("span", { class: "hint" }, `${words.case_states[one.state]}${one.codes ? ` · ${fill(words.case_codes, { n: one.codes })}` : ""}`)))));
}

function showResult() {
  const codes = result(state);
  byId("outcome").textContent = codes.length ? line(codes) : words.nothing_accepted;
  byId("outcome").className = codes.length ? "unseen" : "hint";
  chips.show(codes);
  for (const box of document.querySelectorAll("[data-about]")) if (box.value !== here(state).about[box.dataset.about]) box.value = here(state).about[box.dataset.about];
  showDoubts();
  check();
  const unusable = codes.filter((one) => one.terminal === false).map((one) => one.code);
  byId("unusable").textContent = unusable.length ? `${unusable.join(", ")} ${words.not_terminal}` : "";
}

// --- what does not go together ---------------------------------------------------------------------------------------

let checked = ""; // the result that was asked about last
let doubts = []; // what does not go together in it
const seen = new Set(); // what somebody has looked at and leaves as it is

async function check() {
  const { about } = here(state);
  const codes = result(state).map(({ code, certainty, side }) => ({ code, certainty: certainty || "", side: side || "" }));
  const case_ = { codes, sex: about.sex, age: about.age === "" ? null : Number(about.age), setting: byId("setting").value, country: byId("country").value };
  const asked = JSON.stringify(case_);
  if (asked === checked) return;
  checked = asked;
  const answer = codes.length ? await post(given.urls.conflicts, case_).catch(() => null) : null;
  if (asked !== checked) return;
  doubts = answer?.ok ? await answer.json() : [];
  showDoubts();
}

const inDoubt = (one) => doubts.some(({ text, codes }) => !seen.has(text) && codes.some((code) => [one.shown.code, one.partner?.goes && one.partner.code].includes(code)));

function showDoubts() {
  const left = doubts.filter(({ text }) => !seen.has(text));
  byId("conflicts").hidden = !left.length;
  byId("conflicts").replaceChildren(...left.map(({ text, codes }) => h("li", {},
    h("button", { type: "button", class: "link", onclick: () => focusCard(all.findIndex((one) => [one.shown.code, one.partner?.code].includes(codes[0]))) }, text), " ",
    h("button", { type: "button", class: "act", onclick: () => { seen.add(text); showDoubts(); } }, words.leave_it))));
  for (const [place, element] of [...byId("codes").children].entries()) element.classList.toggle("doubted", Boolean(all[place]) && all[place].state === "accepted" && inDoubt(all[place]));
}

for (const box of document.querySelectorAll("[data-about]")) box.addEventListener("input", () => show(told(state, { [box.dataset.about]: box.dataset.about === "age" ? box.value.replace(/\D/g, "") : box.value })));
for (const box of [byId("setting"), byId("country")]) box.addEventListener("change", check);

const chips = new Chips(byId("chips"), {
  place: (code, to) => show(placed(state, code, to)),
  drop: (code) => {
    const one = all.find((card) => [card.shown.code, card.partner?.goes && card.partner.code].includes(code));
    if (one) show(one.shown.code === code ? judged(state, one, "open") : joined(state, one, false));
  },
});

// --- what was read otherwise than it is meant ------------------------------------------------------------------------

let cameFrom = null; // the card from which somebody went to its words
const bar = new MentionBar({ text, own: () => here(state), undo, quiet: () => !letters.checked,
  correct: (span, claim) => show(corrects(state, span, claim)),
  leave: () => {
    const card = all.findIndex(({ key }) => key === cameFrom);
    bar.hide();
    if (cameFrom && all.length) focusCard(card < 0 ? at : card);
    else text.focus();
  },
});

function toMention(number, from = null) {
  const mention = here(state).mentions[number];
  if (!mention) return;
  cameFrom = from;
  bar.show(mention.span);
  bar.focus();
  tie(number);
  byId("marks").querySelector(`[data-mention="${number}"]`)?.scrollIntoView({ block: "nearest" });
}

// Mentions and codes that belong together are shown together.
function tie(mention = null) {
  const own = here(state);
  active = mention !== null ? new Set([mention]) : all[at] && inCodes() ? mentionsOf(own, all[at]) : new Set();
  draw(byId("marks"), own.text, own.mentions, active);
  for (const [place, element] of [...byId("codes").children].entries()) {
    element.classList.toggle("tied", mention !== null && mentionsOf(own, all[place]).has(mention));
    element.classList.toggle("current", place === at && inCodes());
  }
  bar.place();
}

const inCodes = () => byId("codes").contains(document.activeElement);

function refocus(inside) {
  const own = byId("codes").children[at];
  const same = inside.act ? own?.querySelector(`[data-act="${inside.act}"]`) : inside.pick ? own?.querySelector(`[data-pick="${inside.pick}"]`) : null;
  (same ?? own)?.focus({ preventScroll: true });
}

function grow() {
  if (CSS.supports("field-sizing", "content")) return; // the style sheet does it, without a second layout
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

// --- deciding ------------------------------------------------------------------------------------------------------

function undo() {
  const before = undone(state);
  if (before === state) return say(words.nothing_to_undo);
  show(before);
  say(words.undone);
}

function act(what, one, value) {
  at = Math.max(0, all.findIndex(({ key }) => key === one.key));
  one = all[at]?.key === one.key ? all[at] : one; // its places may have moved since it was drawn
  if (what === "open") return toggle(one);
  if (what === "add") {
    show(added(state, { ...value, pair: one.shown.code }));
    lookUp();
    return focusCard(all.findIndex(({ key }) => key === one.key));
  }
  if (what === "instead") {
    open = null;
    show(instead(state, one, value));
    lookUp();
    return one.code === UNDECIDED ? onwards() : focusCard(at);
  }
  if (what === "accept" || what === "reject") {
    const wanted = what === "accept" ? "accepted" : "rejected";
    const now = one.state === wanted ? "open" : wanted;
    show(judged(state, one, now));
    return say(`${one.shown.code || quote(one, here(state).text)} ${words[now] ?? ""}`);
  }
  show(what === "join" ? joined(state, one, value) : marked(state, one, what, one[what] === value ? "" : value));
}

async function toggle(one) {
  if (!one) return;
  open = open === one.key ? null : one.key;
  const phrase = quote(one, here(state).text);
  if (open && phrase && !candidates.get(phrase)) candidates.set(phrase, await suggested(phrase));
  show(state);
  if (open) byId("codes").children[at]?.querySelector(".choice")?.focus();
  else focusCard(at);
}

function focusCard(place) {
  const elements = byId("codes").children;
  if (!elements.length) return;
  at = Math.max(0, Math.min(place, elements.length - 1));
  elements[at].focus();
  elements[at].scrollIntoView({ block: "nearest" });
  tie();
}

// One key: the decision, and on to the next code that is open. An undecided mention has its candidates instead.
function decide(what) {
  const one = all[at];
  if (!one) return;
  if (what === "accept" && !one.shown.code) return byId("codes").children[at].querySelector(".choice")?.focus();
  act(what, one);
  onwards();
}

function onwards(is = (one) => one.state === "open") {
  const further = all.findIndex((one, place) => place > at && is(one));
  focusCard(further < 0 ? at : further);
}

// The next item that asks for a look: neither decided nor very probably right, or in conflict; from the last on to the first.
function nextDoubtful() {
  const is = (one) => one.state === "open" ? one.shown.confidence !== "high" || one.stale : one.state === "accepted" && inDoubt(one);
  const order = [...all.keys()].map((place) => (inCodes() ? at + 1 + place : place) % all.length);
  const place = order.find((place) => is(all[place]));
  if (place === undefined) return say(words.no_doubt, true);
  focusCard(place);
}

function acceptProbable() {
  const before = result(state).length;
  show(allProbable(state));
  say(fill(words.accepted_all, { n: result(state).length - before }), true);
  nextDoubtful();
}

function asMain() {
  const one = all[at];
  if (!one?.shown.code || one.state !== "accepted") return;
  show(placed(state, one.shown.code, 0));
  say(fill(words.now_main, { code: one.shown.code }), true);
}

function pick(number) {
  byId("codes").children[at]?.querySelectorAll(".candidates .choice")[number - 1]?.click();
}

function turn(changed) {
  go(changed);
  if (!here(state).text) text.focus();
  else if (all.length) focusCard(0);
  else focusWhenThere();
}

function forward() {
  const last = state.at + 1 === state.texts.length;
  turn(next(state));
  if (last) say(words.no_next);
}

function give(content) {
  go(begun(state, content));
}

// Decisions leave with the result; those that did not are asked about before the page is left.
const left = new WeakSet();
function leave(give) {
  if (!result(state).length) return say(words.nothing_to_copy, true);
  left.add(here(state).decisions);
  return give(result(state));
}
addEventListener("beforeunload", (event) => {
  if (state.texts.some((one, place) => one.decisions.length && !left.has(one.decisions) && result(turned(state, place)).length)) event.preventDefault();
});

const DO = {
  example: () => { give(given.example); focusWhenThere(); },
  help: () => { byId("keys").hidden = !byId("keys").hidden; document.querySelector("[data-do=help]").setAttribute("aria-expanded", String(!byId("keys").hidden)); },
  copy: () => leave((codes) => copy(line(codes))),
  fhir: () => leave((codes) => download("kodes.fhir.json", "application/fhir+json", JSON.stringify(bundle(codes, given.version), null, 2))),
  csv: () => leave((codes) => download("kodes.csv", "text/csv", csv(codes, words.csv))),
  xdt: () => leave((codes) => download("kodes.xdt", "text/plain", xdt(codes))),
  same: () => {
    const before = replacedIn;
    replacedIn = null;
    show(typed(before, text.value, null, false, true));
    research();
    text.focus();
  },
  probable: acceptProbable,
  feedback: () => {
    const withText = byId("with-text").checked;
    download(withText ? "feedback.jsonl" : "feedback-counts.jsonl", "application/jsonl", feedback(reviewed(state), withText));
  },
  undo, next: forward, back: () => turn(back(state)),
};

let wantsFocus = false;
function focusWhenThere() {
  wantsFocus = true;
  new MutationObserver((_, observer) => {
    if (!byId("codes").children.length) return;
    observer.disconnect();
    if (wantsFocus) focusCard(0);
    wantsFocus = false;
  }).observe(byId("codes"), { childList: true });
}

// --- keys ----------------------------------------------------------------------------------------------------------

const KEYS = {
  ArrowDown: () => focusCard(at + 1), ArrowUp: () => focusCard(at - 1), Home: () => focusCard(0), End: () => focusCard(Infinity),
  Enter: () => decide("accept"), x: () => decide("reject"), Delete: () => decide("reject"), w: nextDoubtful, s: acceptProbable, h: asMain,
  m: () => all[at] && toMention([...mentionsOf(here(state), all[at])][0], all[at].key), o: () => toggle(all[at]), u: undo, c: DO.copy, n: forward, p: DO.back, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help,
};

// Single letters can be switched off, for those who speak to their machine or press keys by accident (WCAG 2.1.4).
const OFF = "befund_letters=off";
const letters = byId("letters");
letters.checked = !document.cookie.includes(OFF);
letters.addEventListener("change", () => { document.cookie = `${OFF}; path=${location.pathname}; SameSite=Lax; max-age=${letters.checked ? 0 : 31_536_000}`; });
const isOff = (event) => !letters.checked && event.key.length === 1;

byId("codes").addEventListener("keydown", (event) => {
  if (isOff(event)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return event.key === "z" ? (event.preventDefault(), undo()) : undefined;
  const entry = all[at];
  const inMore = event.target.closest(".more, .candidates");
  if (event.key === "Escape" && open) return event.preventDefault(), toggle(entry);
  if (inMore) return moveIn(event, inMore);
  const own = event.target.matches("button, a") && ["Enter", " "].includes(event.key); // what has the focus acts itself
  if (own || !entry) return;
  const letter = event.key.toUpperCase();
  const run = KEYS[event.key] ?? KEYS[event.key.toLowerCase()] ?? (/^[1-9]$/.test(event.key) ? () => pick(Number(event.key)) : null)
    ?? (letter in words.certainty ? () => act("certainty", entry, letter) : letter in words.side ? () => act("side", entry, letter) : null);
  if (!run || event.key === "Tab") return;
  event.preventDefault();
  run();
});

// Arrows among the alternatives; Enter takes one, Escape goes back.
function moveIn(event, more) {
  const all = [...more.querySelectorAll(".choice")];
  const place = all.indexOf(document.activeElement);
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!move && event.key.toLowerCase() === "x") return decide("reject");
  if (!move) return event.key.toLowerCase() === "u" ? undo() : undefined;
  event.preventDefault();
  all[Math.max(0, Math.min(all.length - 1, place + move))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (isOff(event) || event.defaultPrevented || event.target.matches("input, textarea, select") || byId("codes").contains(event.target)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("button, a, summary") && event.key === "Enter") return;
  const run = { ArrowDown: () => focusCard(at), u: undo, w: nextDoubtful, s: acceptProbable, c: DO.copy, n: forward, p: DO.back, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help }[event.key];
  if (run) { event.preventDefault(); run(); }
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) || event.key === "Escape") {
    event.preventDefault();
    if (event.key === "Enter" && text.selectionStart < text.selectionEnd && bar.span) return cameFrom = null, bar.focus();
    bar.hide();
    if (byId("codes").children.length) focusCard(0);
    else focusWhenThere();
  }
});
text.addEventListener("input", (event) => {
  const undoing = event.inputType?.startsWith("history");
  work.stop();
  wantsFocus = false;
  failure = null;
  const before = state;
  const changed = typed(state, text.value, undoing ? null : selected(), undoing);
  if (changed.texts.length > before.texts.length && text.value.trim()) replacedIn = before;
  else if (changed.at !== before.at || !text.value.trim()) replacedIn = null;
  show(changed);
  waiting = setTimeout(research, PAUSE_MS);
});
text.addEventListener("mousemove", (event) => {
  const mention = under(event);
  if (mention !== null || active.size) tie(mention);
});
text.addEventListener("mouseleave", () => tie());
for (const type of ["keyup", "click", "select"]) text.addEventListener(type, () => { bar.fromText(); tie(atCursor(text, here(state).mentions)); });
byId("codes").addEventListener("focusin", (event) => {
  const place = [...byId("codes").children].indexOf(event.target.closest(".code-card"));
  if (place >= 0) { at = place; bar.hide(); tie(); }
});
byId("codes").addEventListener("mouseover", (event) => {
  const element = event.target.closest(".code-card");
  const own = here(state);
  const one = element && all.find(({ key }) => key === element.dataset.key);
  if (one) draw(byId("marks"), own.text, own.mentions, (active = mentionsOf(own, one)));
});
onButtons(DO);

// --- adding a code by hand -----------------------------------------------------------------------------------------

const matches = byId("matches");
let looking = 0;
async function find() {
  const query = byId("add").value.trim();
  const mine = ++looking;
  matches.dataset.of = "";
  if (!query) return matches.replaceChildren(...(inAdder() ? remembered().children : []));
  const answer = await fetch(given.urls.search, { method: "POST", body: new URLSearchParams({ q: query }), headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  const codes = answer?.ok ? await answer.json() : [];
  if (mine !== looking) return;
  const failed = failureOf(answer, words.catalog_lost);
  showFailure(byId("not-found"), failed, failed && find);
  matches.replaceChildren(...(failed ? [] : codes.length ? list(codes.sort((one, another) => used.has(another.code) - used.has(one.code)), takeCode).children : [h("li", { class: "hint" }, words.found_none)]));
  matches.dataset.of = query;
}

function leaveAdder() {
  byId("add").value = "";
  find();
}

// Codes that were added on this page before: favourites first, then the last used; they are what is offered before
// anything is typed, and stand first among what is found.
const used = new Map();
const MOST_REMEMBERED = 8;
const inAdder = () => byId("adder").contains(document.activeElement);

function remembered() {
  const codes = [...used.values()].reverse().sort((one, another) => Boolean(another.favourite) - Boolean(one.favourite)).slice(0, MOST_REMEMBERED);
  const rows = list(codes, takeCode);
  for (const [place, row] of [...rows.children].entries()) {
    const one = codes[place];
    row.append(h("button", { type: "button", class: "act star", "aria-pressed": String(Boolean(one.favourite)), "aria-label": fill(words.favourite, { code: one.code }), onclick: () => { one.favourite = !one.favourite; find(); } }, one.favourite ? "★" : "☆"));
  }
  return rows;
}

function takeCode(code) {
  const before = used.get(code.code);
  used.delete(code.code);
  used.set(code.code, before ?? { ...code });
  show(added(state, code));
  leaveAdder();
  lookUp();
  focusCard(all.findIndex((one) => one.code === code.code));
}

// Enter takes the first of what is found for the words that stand there, neither for those of a moment ago nor, where
// the answer is slow, for those typed since.
async function takeFirst(event) {
  event.preventDefault();
  const asked = byId("add").value.trim();
  if (matches.dataset.of !== asked) await find();
  if (matches.dataset.of === asked) matches.querySelector(".choice")?.click();
}
byId("add").addEventListener("input", find);
byId("add").addEventListener("focus", () => {
  if (!byId("add").value) find();
  byId("adder").scrollIntoView({ block: "center" });
});
byId("adder").addEventListener("submit", takeFirst);
byId("adder").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { leaveAdder(); focusCard(at); }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveIn(event, matches);
});

// --- beginning -----------------------------------------------------------------------------------------------------

show(state);
text.focus();
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !text.value) give(stored);
  else if (new URLSearchParams(location.search).has("example")) DO.example();
  else if (text.value !== here(state).text) give(text.value); // a text that the browser kept while the page was loaded
});
