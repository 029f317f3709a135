// The page "Kodieren": the text to the left, its codes to the right, and keys for everything.

import { Work, byId, copy, download, fill, given, h, onButtons, post, say, showFailure, storedText, words } from "./page.js";
import { EMPTY, accepted, add, cards, choiceOf, choose, decided, next, parts, rejected, withTier } from "./state.js";
import { atCursor, draw, mentionsOf, under } from "./marks.js";
import { card, list, withoutCode } from "./cards.js";
import { bundle, csv, feedback, line } from "./outcome.js";

// The pause that ends typing. Between two keys people take 240 ms, fast ones 120 (Dhakal et al., CHI 2018): any pause
// below that asks at nearly every key, so a longer one would only be waited for; this one joins keys pressed together.
const PAUSE_MS = 30;
const HISTORY = 300;

const text = byId("text");
const info = new Map(); // what the catalog says of a code
const work = new Work(() => clearTimeout(waiting));
let state = EMPTY;
let past = [];
let at = 0; // the card the keys act on
let open = null; // the code whose alternatives are shown
let active = new Set(); // the mentions that are tied to the card or the pointer
let failure = null;
let waiting = 0;

// --- calling -------------------------------------------------------------------------------------------------------

function research() {
  work.stop();
  failure = null;
  const query = text.value;
  if (!query.trim()) return show({ ...state, text: query, entries: [], mentions: [], tier: 0 });
  if (Array.from(query).length > given.longest) return void split(query);
  const first = fill(words.tier, { n: 1 }) + ": " + words.tiers[1];
  work.begin(first, given.urls.events, { query }, (event) => take(event, query));
}

function take(event, query) {
  if (event.type === "failure" || event.status === "error") return fail(event);
  if (event.type !== "partial" && event.type !== "result") return;
  show(withTier({ ...state, text: query }, event.layer, event.codes, event.mentions));
  if (event.layer < 3) work.running.tell(fill(words.tier, { n: event.layer + 1 }) + ": " + words.tiers[event.layer + 1]);
  else say(words.ready);
  lookUp();
}

function fail(event) {
  failure = event.type === "failure" ? event : { part: words.tiers[Math.min(state.tier + 1, 3)], message: event.message, remedy: "" };
  showFailure(byId("failure"), failure, research);
}

// What the catalog adds to the codes shown: marks, pairs, notes, neighbours.
async function lookUp() {
  const wanted = cards(state).flatMap((entry) => [entry.code, entry.pair]).filter((code) => code && !info.has(code));
  if (!wanted.length) return;
  try {
    const answer = await post(given.urls.lookup, { codes: [...new Set(wanted)] });
    if (!answer.ok) return;
    for (const [code, found] of Object.entries(await answer.json())) info.set(code, found);
  } catch { return; }
  show(state);
}

function split(query) {
  const [first, ...queue] = parts(query, given.longest);
  past.push(state);
  state = { ...EMPTY, done: state.done, text: first, queue, at: 1, of: queue.length + 1 };
  text.value = first;
  research();
}

// --- showing -------------------------------------------------------------------------------------------------------

function show(changed) {
  state = changed;
  const all = cards(state);
  for (const entry of all) entry.pairTitle = info.get(entry.pair)?.title;
  at = Math.max(0, Math.min(at, all.length - 1));
  const held = document.activeElement?.closest?.(".code-card")?.dataset.code;
  const inside = document.activeElement?.dataset ?? {};
  byId("codes").replaceChildren(...all.map((entry) => card(state, entry, info, open === entry.code, act)));
  if (held) refocus(inside);
  byId("count").textContent = state.tier ? `${all.length} · ${fill(words.tier, { n: state.tier })}` : "";
  byId("empty").hidden = all.length > 0;
  byId("empty").textContent = state.tier ? words.no_codes : words.idle;
  byId("part").textContent = state.of > 1 ? fill(words.part, { n: Math.max(state.at, 1), all: state.of }) : "";
  const none = withoutCode(state);
  byId("without").replaceChildren(...(none.length ? [h("h2", {}, words.without_code), h("ul", { class: "without" }, none)] : []));
  showFailure(byId("failure"), failure, research);
  showResult();
  tie();
  grow();
}

function showResult() {
  const right = accepted(state);
  byId("outcome").textContent = right.length ? line(right) : words.nothing_accepted;
  byId("outcome").className = right.length ? "some" : "";
  const codes = state.done.reduce((sum, one) => sum + one.accepted.length, 0);
  byId("done").textContent = state.done.length ? fill(words.texts_done, { texts: state.done.length, codes }) : "";
}

// Mentions and codes that belong together are shown together.
function tie(mention = null) {
  const all = cards(state);
  const current = all[at];
  active = mention === null ? (current && inCodes() ? mentionsOf(current, state.mentions) : new Set()) : new Set([mention]);
  if (text.value === state.text) draw(byId("marks"), state.text, state.mentions, active);
  else draw(byId("marks"), text.value, [], active);
  for (const element of byId("codes").children) {
    const entry = all.find((one) => one.code === element.dataset.code);
    const own = entry ? mentionsOf(entry, state.mentions) : new Set();
    element.classList.toggle("tied", mention !== null && own.has(mention));
    element.classList.toggle("current", element === byId("codes").children[at] && inCodes());
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

function step(changed) {
  past = [...past.slice(-HISTORY), state];
  show(changed);
}

function undo() {
  if (!past.length) return say(words.nothing_to_undo);
  const before = past.pop();
  const other = before.text !== text.value;
  if (other) {
    work.stop();
    text.value = before.text;
  }
  show(other ? before : { ...before, entries: state.entries, mentions: state.mentions, tier: state.tier }); // what was found since stays
  say(words.undone);
}

function act(what, entry, value) {
  at = Math.max(0, cards(state).findIndex((one) => one.code === entry.code));
  const choice = choiceOf(state, entry.code);
  if (what === "open") return toggle(entry);
  if (what === "instead") {
    open = null;
    step(choose(state, entry.code, { as: value.code === entry.code ? null : { code: value.code, title: value.title }, state: "accepted" }));
    return focusCard(at);
  }
  if (what === "accept" || what === "reject") {
    const wanted = what === "accept" ? "accepted" : "rejected";
    step(choose(state, entry.code, { state: choice.state === wanted ? "open" : wanted }));
    return say(`${entry.code} ${choiceOf(state, entry.code).state === wanted ? words[wanted] : ""}`);
  }
  step(choose(state, entry.code, { [what]: (choice[what] ?? entry[what]) === value ? "" : value }));
}

function toggle(entry) {
  open = open === entry.code ? null : entry.code;
  show(state);
  if (open) byId("codes").children[at]?.querySelector(".choice")?.focus();
  else focusCard(at);
}

function focusCard(place) {
  const all = byId("codes").children;
  if (!all.length) return;
  at = Math.max(0, Math.min(place, all.length - 1));
  all[at].focus();
  all[at].scrollIntoView({ block: "nearest" });
  tie();
}

// One key: the decision, and on to the next code that is open.
function decide(what) {
  const entry = cards(state)[at];
  if (!entry) return;
  act(what, entry);
  const all = cards(state);
  const further = all.findIndex((one, place) => place > at && choiceOf(state, one.code).state === "open");
  focusCard(further < 0 ? at : further);
}

function forward() {
  work.stop();
  open = null;
  failure = null;
  at = 0;
  const last = !state.queue.length;
  step(next(state));
  text.value = state.text;
  if (last) say(words.no_next);
  if (state.text) research();
  else text.focus();
}

const everything = () => {
  const mine = { text: state.text, accepted: accepted(state), rejected: rejected(state), decided: decided(state) };
  return [...state.done, ...(mine.accepted.length || mine.rejected.length ? [mine] : [])];
};
const codesOfAll = () => everything().flatMap((one) => one.accepted);

const DO = {
  example: () => { text.value = given.example; research(); focusWhenThere(); },
  help: () => { byId("keys").hidden = !byId("keys").hidden; document.querySelector("[data-do=help]").setAttribute("aria-expanded", String(!byId("keys").hidden)); },
  copy: () => (accepted(state).length ? copy(line(accepted(state))) : say(words.nothing_to_copy)),
  fhir: () => download("kodes.fhir.json", "application/fhir+json", JSON.stringify(bundle(codesOfAll(), given.version ?? "2026"), null, 2)),
  csv: () => download("kodes.csv", "text/csv", csv(codesOfAll())),
  feedback: () => {
    const withText = byId("with-text").checked;
    download(withText ? "feedback.jsonl" : "feedback-counts.jsonl", "application/jsonl", feedback(everything(), withText));
  },
  undo, next: forward,
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
  o: () => toggle(cards(state)[at]), u: undo, c: DO.copy, n: forward, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help,
};

byId("codes").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return event.key === "z" ? (event.preventDefault(), undo()) : undefined;
  const entry = cards(state)[at];
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
  if (event.defaultPrevented || event.target.matches("input, textarea") || byId("codes").contains(event.target)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("button, a, summary") && event.key === "Enter") return;
  const run = { ArrowDown: () => focusCard(at), u: undo, c: DO.copy, n: forward, t: () => text.focus(), "/": () => byId("add").focus(), "?": DO.help }[event.key];
  if (run) { event.preventDefault(); run(); }
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) || event.key === "Escape") {
    event.preventDefault();
    if (byId("codes").children.length) focusCard(0);
    else focusWhenThere();
  }
});
text.addEventListener("input", () => {
  clearTimeout(waiting);
  wantsFocus = false;
  tie();
  grow();
  waiting = setTimeout(research, PAUSE_MS);
});
text.addEventListener("mousemove", (event) => {
  const mention = under(event);
  if (mention !== null || active.size) tie(mention);
});
text.addEventListener("mouseleave", () => tie());
text.addEventListener("keyup", () => tie(atCursor(text, state.mentions)));
text.addEventListener("click", () => tie(atCursor(text, state.mentions)));
byId("codes").addEventListener("focusin", (event) => {
  const place = [...byId("codes").children].indexOf(event.target.closest(".code-card"));
  if (place >= 0) { at = place; tie(); }
});
byId("codes").addEventListener("mouseover", (event) => {
  const element = event.target.closest(".code-card");
  const entry = element && cards(state).find((one) => one.code === element.dataset.code);
  if (entry) { active = mentionsOf(entry, state.mentions); draw(byId("marks"), text.value, text.value === state.text ? state.mentions : [], active); }
});
onButtons(DO);

// --- adding a code by hand -----------------------------------------------------------------------------------------

let looking = 0;
async function find() {
  const query = byId("add").value.trim();
  if (!query) return byId("matches").replaceChildren();
  const mine = ++looking;
  const answer = await fetch(given.urls.search, { method: "POST", body: new URLSearchParams({ q: query }), headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  const found = answer?.ok ? await answer.json() : null;
  if (mine !== looking) return;
  const take = (code) => { step(add(state, code)); byId("add").value = ""; byId("matches").replaceChildren(); lookUp(); focusCard(cards(state).findIndex((one) => one.code === code.code)); };
  byId("matches").replaceChildren(...(found?.length ? [...list(found, take).children] : [h("li", { class: "hint" }, found ? words.found_none : words.catalog_lost)]));
}
byId("add").addEventListener("input", find);
byId("adder").addEventListener("submit", (event) => { event.preventDefault(); byId("matches").querySelector(".choice")?.click(); });
byId("adder").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { byId("add").value = ""; byId("matches").replaceChildren(); focusCard(at); }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveIn(event, byId("matches"));
});

// --- beginning -----------------------------------------------------------------------------------------------------

show(state);
text.focus();
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !text.value) { text.value = stored; research(); }
  else if (new URLSearchParams(location.search).has("example")) DO.example();
});
