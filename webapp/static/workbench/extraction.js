// The page "Extrahieren": the letter to the left, its fields to the right, each value tied to what evidences it.

import { Work, byId, copy, download, fill, given, h, onButtons, onRunKey, say, selection, showFailure, storedText, words } from "./page.js";
import { changed, exported, fieldsOf, nameOf, typed, within } from "./fields.js";
import { editOf, isAnother, moved } from "./state.js";
import { Sheets, base64 } from "./sheets.js";

const text = byId("text");
const selected = selection(text);
const work = new Work();
let asked = ""; // the letter that is being read, or was read last
let was = ""; // the letter before its last change

// A letter that was read, and what somebody did with its fields: null before one was.
//
//   read      the answer, with the letter it is of; `evidence` of it as an edit of the letter moved it
//   data      the fields as they are now; `past`: as they were, with what was checked, for undo
//   checked   paths that somebody has confirmed; `stale`: those whose words in the letter have changed since
//   wrong     what somebody typed into a field that cannot take it; `byHand`: the words that somebody took for a field
//   added     paths of entries that somebody added
let it = null;
const begun = (answer, letter) => ({ read: { ...answer, letter }, evidence: answer.evidence, data: answer.data, past: [], checked: new Set(), stale: new Set(), wrong: new Map(), byHand: new Map(), added: new Set() });

function run() {
  work.stop();
  if (file) return readFile(file);
  const letter = text.value;
  const long = Array.from(letter).length;
  if (!letter.trim()) return text.focus();
  if (long > given.longest) return showFailure(byId("failure"), { part: words.letter, message: fill(words.too_long, { n: long, most: given.longest }) });
  showFailure(byId("failure"), null);
  const wanted = { document_type: document.querySelector("[name=kind]:checked").value, text: letter };
  asked = was = letter;
  work.begin(words.reads, given.urls.answer, wanted, (event) => take(event, letter));
}

// --- files ---------------------------------------------------------------------------------------------------------

let queue = []; // chosen files, in their order: {name, data, answer}
let file = null; // the one that is shown
const sheets = new Sheets(byId("sheets"), {
  url: given.urls.sheets,
  go: (path) => boxOf(path)?.focus(),
  over: (path) => tie(path),
});

async function choose(chosen) {
  const files = Array.from(chosen);
  const large = files.find((one) => one.size > given.largest);
  if (large) return showFailure(byId("failure"), { part: words.letter, message: fill(words.file_too_large, { name: large.name }) });
  if (!files.length) return;
  work.stop();
  const begun = await Promise.all(files.map(async (one) => ({ name: one.name, data: await base64(one), answer: null })));
  queue = [...queue, ...begun];
  showFile(begun[0]);
}

// Show a file: its fields where it was read, else it is read now; those behind it follow by themselves.
function showFile(one) {
  file = one;
  aside = null;
  clear();
  text.value = "";
  mark();
  showQueue();
  if (one.answer) return take({ type: "answer", answer: one.answer }, one.answer.text);
  readFile(one);
}

function readFile(one) {
  showFailure(byId("failure"), null);
  const wanted = { document_type: document.querySelector("[name=kind]:checked").value, content: { data: one.data } };
  work.begin(fill(words.reads_file, { name: one.name }), given.urls.answer, wanted, (event) => {
    one.failed = event.type !== "answer";
    if (!one.failed) one.answer = event.answer;
    if (one === file) take(event, event.answer?.text ?? "");
    showQueue();
    const next = queue.find((other) => !other.answer && !other.failed);
    if (next) setTimeout(() => readFile(next));
  });
}

function showQueue() {
  byId("queue").hidden = queue.length < 2;
  byId("queue").replaceChildren(...queue.map((one) => h("button", { class: "button quiet", type: "button", "aria-pressed": String(one === file), onclick: () => showFile(one) }, `${one.answer ? "✓ " : one.failed ? "✗ " : ""}${one.name}`)));
}

// The sheet in place of the text, or the other way round; a file without pages is its text.
function turn(asSheet) {
  const there = Boolean(it?.read.pages?.length);
  byId("turn").hidden = !there;
  byId("sheets").hidden = !(there && asSheet);
  byId("written").hidden = there && asSheet;
  byId("turn").textContent = there && asSheet ? words.as_text : words.as_sheet;
  if (!byId("written").hidden) grow();
  if (document.activeElement === document.body) byId("turn").focus();
}

function take(event, letter) {
  if (event.type !== "answer") return showFailure(byId("failure"), event, run);
  it = begun(event.answer, letter);
  target = null;
  const waits = document.activeElement === text || document.activeElement === document.body || document.activeElement.dataset.do;
  if (file) {
    text.value = asked = letter;
    sheets.show(file, it.read, words);
  }
  aside = null;
  show();
  turn(Boolean(file));
  if (text.value !== letter) follow(editOf(Array.from(letter), Array.from(text.value), null));
  was = text.value;
  if (waits && all(it.data).some(({ value }) => value !== null)) next(null);
  say(byId("count").textContent);
}

let aside = null;

// Another letter: nothing of the one before stays beside it. It comes back with its letter (Ctrl Z).
function clear() {
  work.stop();
  aside = it ?? aside;
  it = null;
  for (const box of ["fields", "remarks", "count", "fill"]) byId(box).replaceChildren();
  asked = "";
  byId("empty").hidden = false;
  byId("leave").hidden = true;
  turn(false);
}

// --- showing -------------------------------------------------------------------------------------------------------

const all = (data) => fieldsOf(data).flatMap(({ fields }) => fields);
const valueOf = (path, data = it.data) => all(data).find((one) => one.path === path)?.value ?? null;
const original = (path) => valueOf(path, it.read.data);
const shownEvidence = () => [...it.evidence.filter(({ path }) => valueOf(path) === original(path)), ...[...it.byHand.values()].filter(({ path, value }) => valueOf(path) === value)];
const evidenceOf = (path) => shownEvidence().filter((one) => one.path === path);
const boxOf = (path) => byId("fields").querySelector(`[data-path="${CSS.escape(path)}"]`);

function show() {
  const held = document.activeElement?.dataset?.path;
  const groups = fieldsOf(it.data).map(({ group, fields }) => section(group, fields)).filter(Boolean);
  const silent = groups.filter((made) => !made.matches("section"));
  byId("fields").replaceChildren(...groups.filter((made) => !silent.includes(made)), ...(silent.length ? [h("section", { class: "fields card", "aria-label": words.absent }, h("h3", {}, words.absent), silent)] : []));
  showRemarks();
  showCount();
  byId("empty").hidden = true;
  byId("leave").hidden = false;
  if (held) boxOf(held)?.focus();
  mark();
  dispatchEvent(new Event("shown"));
}

function showCount() {
  const said = all(it.data).filter((one) => one.value !== null);
  byId("count").textContent = fill(words.counted, { n: said.filter(({ path }) => it.checked.has(path)).length, m: said.length, removed: it.read.states.filter((one) => one.state === "removed").length, review: it.read.review.length });
}

function showRemarks() {
  const edited = it && text.value !== it.read.letter ? [words.letter_edited] : [];
  byId("remarks").replaceChildren(...[...edited, ...(it?.read.remarks ?? [])].map((remark) => h("p", { class: "note" }, remark)));
}

// A group: the fields with a value first, then what was removed, then, folded, what the letter does not say; only the
// folded part where there is nothing else. A list takes further entries.
function section(group, fields) {
  const name = words.fields[group] ?? group;
  const removed = it.read.states.filter((one) => one.state === "removed" && within(one.path, group));
  const notes = it.read.review.filter((one) => within(one.path, group));
  const denied = it.read.states.filter((one) => one.state === "denied" && within(one.path, group));
  const said = fields.filter((one) => one.value !== null || original(one.path) !== null || it.added.has(one.path) || removed.some((state) => state.path === one.path));
  const silent = fields.filter((one) => !said.includes(one));
  const alone = [...removed, ...denied].filter((state) => !said.some((one) => one.path === state.path));
  const adder = group in given.lists && h("button", { type: "button", class: "act add", onclick: () => addTo(group) }, `+ ${name}`);
  if (!said.length && !silent.length && !alone.length) return adder || null;
  const folded = (summary) => silent.length > 0 && h("details", { class: "silent" }, h("summary", {}, summary), silent.map((one) => field(one, group)));
  if (!said.length && !alone.length && !notes.length) return folded(name);
  return h("section", { class: "fields card", "aria-label": name },
    h("h3", {}, name),
    said.map((one) => field(one, group)),
    alone.map((state) => remark(state)),
    notes.filter((note) => !said.some((one) => one.path === note.path)).map((note) => h("p", { class: "review" }, h("strong", {}, words.review + " "), note.reason)),
    adder, folded(fill(words.silent, { names: silent.map((one) => label(one.path, group)).join(", ") })));
}

const nameless = (path) => path.replace(/\[\d+\]/g, "");

const label = (path, group) => (path === group ? words.fields[group] ?? group : words.fields[nameOf(path)] ?? nameOf(path).replace(/^\w+ (\d+)$/, "$1").replace(new RegExp(`^${group} `), ""));

const LONG = 44; // characters that a line of a field shows
const groupOf = (path) => path.match(/^\w+/)[0];

function field({ path, value }, group) {
  const { read, wrong, checked, stale } = it;
  const id = `field-${path}`;
  const bad = wrong.has(path);
  const edited = bad || value !== original(path);
  const [evidence] = evidenceOf(path);
  const notes = read.review.filter((one) => one.path === path);
  const options = given.choices[nameless(path)];
  const shown = wrong.get(path) ?? value ?? "";
  const common = { id, "data-path": path, "aria-invalid": bad && "true", "aria-describedby": bad && `${id}-wrong`, onchange: edit, onfocus: () => { target = path; tie(path); }, onmouseenter: () => tie(path) };
  const typing = { ...common, autocomplete: "off", spellcheck: "false" };
  const hints = bad ? [] : [edited && words.edited, evidence && words.match[evidence.match], !edited && evidence?.support && words.support[evidence.support]].filter(Boolean);
  const plain = !edited && evidence?.match === "exact" && evidence.support && !stale.has(path); // nothing to look at twice
  return h("div", { class: `one-field${plain ? " plain" : ""}${edited ? " edited" : ""}${stale.has(path) ? " stale" : ""}${notes.length ? " to-review" : ""}` },
    h("label", { for: id }, label(path, group), checked.has(path) && h("span", { class: "tick" }, " ✓", h("span", { class: "unseen" }, ` ${words.checked}`))),
    options ? h("select", common, ["", ...options].map((one) => h("option", { value: one, selected: one === (value ?? "") }, words.values[one] ?? one)))
      : shown.length > LONG || shown.includes("\n") ? h("textarea", { ...typing, rows: Math.min(8, shown.split("\n").reduce((rows, line) => rows + Math.ceil((line.length + 1) / LONG), 0)) }, shown)
      : h("input", { ...typing, value: shown }),
    bad && h("p", { class: "wrong", id: `${id}-wrong` }, words.no_date),
    stale.has(path) && h("p", { class: "review" }, words.stale),
    hints.length > 0 && h("p", { class: "hint" }, hints.join(" · ")),
    notes.map((note) => h("p", { class: "review" }, h("strong", {}, words.review + " "), note.reason)),
    read.states.filter((state) => state.state === "removed" && state.path === path).map(remark));
}

// One field anew, in its place: all others, and the focus in them, stay as they are.
function renew(path) {
  const old = it && boxOf(path)?.closest(".one-field");
  if (!old) return;
  const held = old.contains(document.activeElement);
  old.replaceWith(field({ path, value: valueOf(path) }, groupOf(path)));
  if (held) boxOf(path).focus();
  showCount();
  dispatchEvent(new Event("shown"));
  mark();
}

function remark(state) {
  if (state.state === "denied") return h("p", { class: "review" }, words.denied);
  return h("p", { class: "removed" }, h("strong", {}, words.removed + " "), h("del", {}, state.value ?? ""),
    state.words.length > 0 && h("span", {}, " " + words.no_evidence + " ", state.words.map((word, place) => [place ? ", " : "", h("mark", { class: "m none" }, word)]).flat()));
}

// --- the letter and its marks --------------------------------------------------------------------------------------

let active = null;

function mark() {
  const layer = byId("marks");
  if (!it) return layer.replaceChildren(text.value + "\n"), grow();
  const kept = shownEvidence().sort((a, b) => a.start - b.start || b.end - a.end);
  if (it.read.pages) sheets.draw(kept, it.read.review, active);
  const characters = Array.from(text.value);
  const pieces = [];
  let at = 0;
  for (const one of kept) {
    if (one.start < at) continue;
    pieces.push(characters.slice(at, one.start).join(""));
    const doubtful = it.read.review.some((note) => note.path === one.path);
    const own = one.path === active || kept.some((other) => other.path === active && other.start < one.end && one.start < other.end);
    pieces.push(h("mark", { class: `m ${doubtful ? "suspected" : "present"}${own ? " active" : ""}`, "data-at": one.path }, characters.slice(one.start, one.end).join("")));
    at = one.end;
  }
  layer.replaceChildren(...pieces, characters.slice(at).join("") + "\n");
  grow();
}

function tie(path) {
  if (active === path) return;
  active = path;
  mark();
  sheets.tie(path);
  for (const element of byId("fields").querySelectorAll("[data-path]")) element.closest(".one-field").classList.toggle("tied", element.dataset.path === path);
  byId("marks").querySelector(".active")?.scrollIntoView({ block: "nearest" });
}

function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

function pathUnder(event) {
  return document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.at)?.dataset.at ?? null;
}

// --- changing ------------------------------------------------------------------------------------------------------

const remember = () => it.past.push({ data: it.data, checked: new Set(it.checked) });

// A field takes what somebody typed or marked; what it cannot take stays in it and is said. `span`: its words in the letter.
function set(path, raw, span = null) {
  const value = typed(path, raw);
  if (value === undefined) it.wrong.set(path, raw);
  else if ((value || null) !== valueOf(path) || it.wrong.has(path)) {
    it.wrong.delete(path);
    remember();
    it.data = changed(it.data, path, value);
    it.checked.add(path);
    it.stale.delete(path);
  }
  if (span && value !== undefined) it.byHand.set(path, { ...span, path, value, match: "hand" });
  if (value === undefined) say(words.no_date);
  return value !== undefined;
}

function edit({ target: box }) {
  const { path } = box.dataset;
  set(path, box.value.trim());
  const go = () => setTimeout(() => renew(path)); // once the focus is where it goes
  if (pressed) addEventListener("pointerup", go, { once: true });
  else go();
}

let pressed = false; // nothing moves away under a button that is being pressed
addEventListener("pointerdown", () => { pressed = true; }, true);
addEventListener("pointerup", () => { pressed = false; }, true);
addEventListener("pointercancel", () => { pressed = false; }, true);

// Enter: the field is right as it stands, and on to the next one that nobody has looked at.
function confirm(box) {
  const { path } = box.dataset;
  if (!set(path, box.value.trim())) return renew(path);
  if (valueOf(path) !== null && !it.checked.has(path)) { remember(); it.checked.add(path); it.stale.delete(path); }
  next(path);
  renew(path);
}

function next(path) {
  const boxes = [...byId("fields").querySelectorAll("[data-path]")].filter((box) => box.checkVisibility());
  const at = boxes.findIndex((box) => box.dataset.path === path);
  const left = [...boxes.slice(at + 1), ...boxes.slice(0, Math.max(0, at))].find((box) => box.value && !it.checked.has(box.dataset.path));
  if (left) return left.focus();
  say(words.all_checked, true);
  document.querySelector("[data-do=json]").focus();
}

function addTo(group, raw = "", span = null) {
  remember();
  it.data = { ...it.data, [group]: [...it.data[group], structuredClone(given.lists[group])] };
  const paths = all(it.data).map(({ path }) => path).filter((path) => path.startsWith(`${group}[${it.data[group].length - 1}]`));
  for (const path of paths) it.added.add(path);
  if (raw) set(paths[0], raw, span);
  show();
  boxOf(paths[0]).focus();
}

byId("fields").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || !event.target.dataset.path) return;
  event.preventDefault();
  confirm(event.target);
});

// Words that are selected in the letter fill the field that had the focus last, or become an entry of a list.
let target = null;
const MOST_TAKEN = 400; // characters

function offer() {
  if (byId("fill").contains(document.activeElement)) return; // a "select" comes late: the button that has the focus stays
  const place = (unit) => Array.from(text.value.slice(0, unit)).length;
  const [from, to] = [text.selectionStart, text.selectionEnd];
  const raw = text.value.slice(from, to);
  const chosen = raw.trim().replace(/\s+/g, " ");
  const usable = it && chosen && to - from <= MOST_TAKEN;
  if (!usable) return byId("fill").replaceChildren();
  const start = place(from + raw.length - raw.trimStart().length);
  const span = { start, end: start + Array.from(raw.trim()).length };
  const button = (name, take) => h("button", { type: "button", class: "act", onclick: () => { byId("fill").replaceChildren(); take(); } }, name);
  const into = target && !given.choices[nameless(target)] && boxOf(target) ? [button(fill(words.put_into, { field: label(target, groupOf(target)) }), () => { set(target, chosen, span); renew(target); boxOf(target).focus(); })] : [];
  byId("fill").replaceChildren(h("span", { class: "hint" }, `„${chosen.slice(0, 60)}${chosen.length > 60 ? "…" : ""}“`), " ", ...into,
    ...Object.keys(given.lists).filter((group) => it.data[group]).map((group) => button(`+ ${words.fields[group] ?? group}`, () => addTo(group, chosen, span))));
}

function undo() {
  if (!it) return say(words.nothing_to_undo);
  if (!it.past.length && !it.wrong.size) return say(words.nothing_to_undo);
  if (it.wrong.size) it.wrong.clear();
  else Object.assign(it, it.past.pop());
  show();
  say(words.undone);
}

// What is shown leaves, and nothing else: not before something was read, and not with a field that cannot be taken.
function leave(give) {
  if (!it) return say(words.nothing_read);
  const [first] = it.wrong.keys();
  if (first === undefined) return give(result());
  boxOf(first).focus();
  say(words.no_date);
}

function result() {
  const { read, data, checked } = it;
  const edited = all(data).filter((one) => one.value !== original(one.path)).map((one) => one.path);
  return JSON.stringify({ document_type: read.document_type, data: exported(data), removed_by_grounding: read.removed_by_grounding, edited, checked: all(data).map(({ path }) => path).filter((path) => checked.has(path)) }, null, 2);
}

const DO = {
  run, undo,
  turn: () => turn(byId("sheets").hidden),
  example: () => { file = null; text.value = given.example; clear(); mark(); run(); },
  json: () => leave((content) => download(`${it.read.document_type}.json`, "application/json", content)),
  copy: () => leave(copy),
};

text.addEventListener("input", () => {
  if (file) { file = null; turn(false); showQueue(); }
  const from = selected();
  if (text.value === aside?.read.letter) {
    [it, aside, was] = [aside, null, text.value];
    return show();
  }
  if (asked && isAnother(was, text.value, from)) clear();
  if (it) follow(editOf(Array.from(was), Array.from(text.value), from));
  was = text.value;
  showRemarks();
  mark();
});

// The places of the fields move with an edit of the letter; a field whose words it changes has to be looked at again.
function follow(edit) {
  if (text.value === it.read.letter) {
    [it.evidence, it.stale] = [it.read.evidence, new Set()];
    return show();
  }
  const touched = (one) => !moved(one, edit);
  const lost = shownEvidence().filter(touched).map(({ path }) => path);
  it.evidence = it.evidence.filter((one) => !touched(one)).map((one) => moved(one, edit));
  it.byHand = new Map([...it.byHand].filter(([, one]) => !touched(one)).map(([path, one]) => [path, moved(one, edit)]));
  for (const path of lost) { it.stale.add(path); it.checked.delete(path); renew(path); }
}
for (const type of ["select", "keyup", "mouseup"]) text.addEventListener(type, offer);
text.addEventListener("keydown", (event) => {
  const first = byId("fill").querySelector("button");
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !first || text.selectionStart === text.selectionEnd) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  first.focus();
});
onRunKey(text, run);
byId("file").addEventListener("change", (event) => { choose(event.target.files); event.target.value = ""; });
const source = text.closest(".source");
for (const type of ["dragover", "dragleave", "drop"]) {
  source.addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    source.classList.toggle("over", type === "dragover");
    if (type === "drop") choose(event.dataTransfer.files);
  });
}
text.addEventListener("mousemove", (event) => { const path = it && pathUnder(event); if (path) tie(path); });
text.addEventListener("click", (event) => { const path = it && text.selectionStart === text.selectionEnd && pathUnder(event); if (path) boxOf(path)?.focus(); });
onButtons(DO);
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !text.value) { text.value = stored; mark(); run(); }
  else if (new URLSearchParams(location.search).has("example")) DO.example();
});

// For the page of a stored document, which reads its file here.
export { choose, leave };
export const current = () => ({ read: it?.read, data: it?.data, file });
