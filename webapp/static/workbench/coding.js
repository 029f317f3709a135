// The page "Kodieren": the text to the left, its codes to the right, and keys for everything.

import { Work, byId, copy, download, failureOf, fill, given, h, onButtons, post, say, selection, showFailure, storedText, words } from "./page.js";
import { EMPTY, accepted, added, back, begun, cards, found, here, instead, joined, judged, learnt, marked, mentionsOf, next, result, reviewed, split, typed, undone, unknown } from "./state.js";
import { atCursor, draw, under } from "./marks.js";
import { card, list, withoutCode } from "./cards.js";
import { bundle, csv, feedback, line } from "./outcome.js";

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
let open = null; // the code whose alternatives are shown
let active = new Set(); // the mentions that are tied to the card or the pointer
let failure = null;
let waiting = 0;

// --- calling -------------------------------------------------------------------------------------------------------

function research() {
  work.stop();
  failure = null;
  const query = here(state).text;
  if (!query.trim()) return show(state);
  if (Array.from(query).length > given.longest) return go(split(state, given.longest));
  showFailure(byId("failure"), null);
  work.begin(fill(words.tier, { n: 1 }) + ": " + words.tiers[1], given.urls.events, { query }, take, USUAL_S);
}

function take(event) {
  if (event.type === "failure" || event.status === "error") return fail(event);
  if (event.type !== "partial" && event.type !== "result") return;
  const before = accepted(state);
  show(found(state, event));
  const now = new Set(accepted(state).map(({ code }) => code));
  const gone = before.filter(({ code }) => !now.has(code));
  if (gone.length) say(fill(words.gone, { codes: line(gone) }));
  if (event.layer < 3) work.running.tell(fill(words.tier, { n: event.layer + 1 }) + ": " + words.tiers[event.layer + 1]);
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

// Another text is shown: the next, the one before, a part.
function go(changed) {
  work.stop();
  [open, failure, at] = [null, null, 0];
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
  const held = document.activeElement?.closest?.(".code-card")?.dataset.code;
  const inside = document.activeElement?.dataset ?? {};
  byId("codes").replaceChildren(...all.map((one) => card(one, own, state.catalog, open === one.code, act)));
  if (held) refocus(inside);
  byId("count").textContent = own.tier ? `${all.length} · ${fill(words.tier, { n: own.tier })}` : "";
  byId("empty").hidden = all.length > 0 || Boolean(own.text.trim() && !own.tier);
  byId("empty").textContent = own.tier ? words.no_codes : words.idle;
  byId("turns").hidden = state.texts.length < 2;
  byId("part").textContent = fill(words.part, { n: state.at + 1, all: state.texts.length });
  const none = withoutCode(own);
  byId("without").replaceChildren(...(none.length ? [h("h2", {}, words.without_code), h("ul", { class: "without" }, none)] : []));
  showFailure(byId("failure"), failure, research);
  showResult(own);
  tie();
  grow();
}

function showResult(own) {
  const codes = result(state);
  byId("outcome").textContent = codes.length ? line(codes) : words.nothing_accepted;
  byId("outcome").className = codes.length ? "some" : "";
  const unusable = codes.filter((one) => one.terminal === false).map((one) => one.code);
  byId("unusable").textContent = unusable.length ? `${unusable.join(", ")} ${words.not_terminal}` : "";
  const others = state.texts.flatMap((one, place) => (one.group === own.group ? [] : [accepted({ ...state, at: place }).length])).filter(Boolean);
  byId("done").textContent = others.length ? fill(words.texts_done, { texts: others.length, codes: others.reduce((sum, one) => sum + one) }) : "";
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
}

const inCodes = () => byId("codes").contains(document.activeElement);

function refocus(inside) {
  const own = byId("codes").children[at];
  const same = inside.act ? own?.querySelector(`[data-act="${inside.act}"]`) : inside.pick ? own?.querySelector(`[data-pick="${inside.pick}"]`) : null;
  (same ?? own)?.focus({ preventScroll: true });
}

function grow() {
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
  at = Math.max(0, all.findIndex(({ code }) => code === one.code));
  if (what === "open") return toggle(one);
  if (what === "instead") {
    open = null;
    show(instead(state, one, value));
    lookUp();
    return focusCard(at);
  }
  if (what === "accept" || what === "reject") {
    const wanted = what === "accept" ? "accepted" : "rejected";
    const now = one.state === wanted ? "open" : wanted;
    show(judged(state, one, now));
    return say(`${one.shown.code} ${words[now] ?? ""}`);
  }
  show(what === "join" ? joined(state, one, value) : marked(state, one, what, one[what] === value ? "" : value));
}

function toggle(one) {
  open = open === one.code ? null : one.code;
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

// One key: the decision, and on to the next code that is open.
function decide(what) {
  if (!all[at]) return;
  act(what, all[at]);
  const further = all.findIndex((one, place) => place > at && one.state === "open");
  focusCard(further < 0 ? at : further);
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

const DO = {
  example: () => { give(given.example); focusWhenThere(); },
  help: () => { byId("keys").hidden = !byId("keys").hidden; document.querySelector("[data-do=help]").setAttribute("aria-expanded", String(!byId("keys").hidden)); },
  copy: () => (result(state).length ? copy(line(result(state))) : say(words.nothing_to_copy)),
  fhir: () => download("kodes.fhir.json", "application/fhir+json", JSON.stringify(bundle(result(state), given.version), null, 2)),
  csv: () => download("kodes.csv", "text/csv", csv(result(state))),
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
  Enter: () => decide("accept"), x: () => decide("reject"), Delete: () => decide("reject"),
  o: () => toggle(all[at]), u: undo, c: DO.copy, n: forward, p: DO.back, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help,
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
  const inMore = event.target.closest(".more");
  if (event.key === "Escape" && open) return event.preventDefault(), toggle(entry);
  if (inMore) return moveIn(event, inMore);
  const own = event.target.matches("button, a") && ["Enter", " "].includes(event.key); // what has the focus acts itself
  if (own || !entry) return;
  const letter = event.key.toUpperCase();
  const run = KEYS[event.key] ?? KEYS[event.key.toLowerCase()]
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
  if (!move) return event.key.toLowerCase() === "u" ? undo() : undefined;
  event.preventDefault();
  all[Math.max(0, Math.min(all.length - 1, place + move))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (isOff(event) || event.defaultPrevented || event.target.matches("input, textarea") || byId("codes").contains(event.target)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("button, a, summary") && event.key === "Enter") return;
  const run = { ArrowDown: () => focusCard(at), u: undo, c: DO.copy, n: forward, p: DO.back, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help }[event.key];
  if (run) { event.preventDefault(); run(); }
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) || event.key === "Escape") {
    event.preventDefault();
    if (byId("codes").children.length) focusCard(0);
    else focusWhenThere();
  }
});
text.addEventListener("input", (event) => {
  const undoing = event.inputType?.startsWith("history");
  work.stop();
  wantsFocus = false;
  failure = null;
  show(typed(state, text.value, undoing ? null : selected(), undoing));
  waiting = setTimeout(research, PAUSE_MS);
});
text.addEventListener("mousemove", (event) => {
  const mention = under(event);
  if (mention !== null || active.size) tie(mention);
});
text.addEventListener("mouseleave", () => tie());
text.addEventListener("keyup", () => tie(atCursor(text, here(state).mentions)));
text.addEventListener("click", () => tie(atCursor(text, here(state).mentions)));
byId("codes").addEventListener("focusin", (event) => {
  const place = [...byId("codes").children].indexOf(event.target.closest(".code-card"));
  if (place >= 0) { at = place; tie(); }
});
byId("codes").addEventListener("mouseover", (event) => {
  const element = event.target.closest(".code-card");
  const own = here(state);
  const one = element && all.find(({ code }) => code === element.dataset.code);
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
  if (!query) return matches.replaceChildren();
  const answer = await fetch(given.urls.search, { method: "POST", body: new URLSearchParams({ q: query }), headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  const codes = answer?.ok ? await answer.json() : [];
  if (mine !== looking) return;
  const failed = failureOf(answer, words.catalog_lost);
  showFailure(byId("not-found"), failed, failed && find);
  matches.replaceChildren(...(failed ? [] : codes.length ? list(codes, takeCode).children : [h("li", { class: "hint" }, words.found_none)]));
  matches.dataset.of = query;
}

function leaveAdder() {
  byId("add").value = "";
  find();
}

function takeCode(code) {
  show(added(state, code));
  leaveAdder();
  lookUp();
  focusCard(all.findIndex((one) => one.code === code.code));
}

// Enter takes the first of what is found for the words that stand there, not for those of a moment ago.
async function takeFirst(event) {
  event.preventDefault();
  if (matches.dataset.of !== byId("add").value.trim()) await find();
  matches.querySelector(".choice")?.click();
}
byId("add").addEventListener("input", find);
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
