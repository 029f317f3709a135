// The page "Extrahieren": the letter to the left, its fields to the right, each value tied to what evidences it.

import { Work, byId, copy, download, fill, given, h, onButtons, onRunKey, say, selection, showFailure, storedText, words } from "./page.js";
import { changed, exported, fieldsOf, nameOf, typed, within } from "./fields.js";
import { isAnother } from "./state.js";
import { Sheets, base64 } from "./sheets.js";

const text = byId("text");
const selected = selection(text);
const work = new Work();
let asked = ""; // the letter that is being read, or was read last
let read = null; // the answer, with the text it was read from
let data = null;
let past = [];
const wrong = new Map(); // what somebody typed into a field that cannot take it, by path

function run() {
  work.stop();
  if (file) return readFile(file);
  const letter = text.value;
  const long = Array.from(letter).length;
  if (!letter.trim()) return text.focus();
  if (long > given.longest) return showFailure(byId("failure"), { part: words.letter, message: fill(words.too_long, { n: long, most: given.longest }) });
  showFailure(byId("failure"), null);
  const wanted = { document_type: document.querySelector("[name=kind]:checked").value, text: letter };
  asked = letter;
  work.begin(words.reads, given.urls.answer, wanted, (event) => take(event, letter));
}

// --- files ---------------------------------------------------------------------------------------------------------

let queue = []; // chosen files, in their order: {name, data, answer}
let file = null; // the one that is shown
const sheets = new Sheets(byId("sheets"), {
  url: given.urls.sheets,
  go: (path) => byId("fields").querySelector(`[data-path="${CSS.escape(path)}"]`)?.focus(),
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
  byId("queue").replaceChildren(...queue.map((one) => h("button", { class: `button quiet${one === file ? " chosen" : ""}`, type: "button", "aria-pressed": String(one === file), onclick: () => showFile(one) }, `${one.answer ? "✓ " : one.failed ? "✗ " : ""}${one.name}`)));
}

// The sheet in place of the text, or the other way round; a file without pages is its text.
function turn(asSheet) {
  const there = Boolean(read?.pages?.length);
  byId("turn").hidden = !there;
  byId("sheets").hidden = !(there && asSheet);
  byId("written").hidden = there && asSheet;
  byId("turn").textContent = there && asSheet ? words.as_text : words.as_sheet;
  if (!byId("written").hidden) grow();
}

function take(event, letter) {
  if (event.type !== "answer") return showFailure(byId("failure"), event, run);
  read = { ...event.answer, letter };
  if (file) {
    text.value = letter;
    asked = letter;
    sheets.show(file, read, words);
  }
  turn(Boolean(file));
  aside = null;
  data = read.data;
  past = [];
  wrong.clear();
  show();
  say(byId("count").textContent);
}

let aside = null;

// Another letter: nothing of the one before stays beside it. It comes back with its letter (Ctrl Z).
function clear() {
  work.stop();
  if (read) aside = { read, data, past };
  [read, data, past] = [null, null, []];
  wrong.clear();
  for (const box of ["fields", "remarks", "count"]) byId(box).replaceChildren();
  asked = "";
  byId("empty").hidden = false;
  byId("leave").hidden = true;
  turn(false);
}

// --- showing -------------------------------------------------------------------------------------------------------

const evidenceOf = (path) => read.evidence.filter((one) => one.path === path);
const original = (path) => fieldsOf(read.data).flatMap(({ fields }) => fields).find((one) => one.path === path)?.value ?? null;

function show() {
  const held = document.activeElement?.dataset?.path;
  const groups = fieldsOf(data).map(({ group, fields }) => section(group, fields)).filter(Boolean);
  const silent = groups.filter((made) => made.matches("details"));
  byId("fields").replaceChildren(...groups.filter((made) => !silent.includes(made)), ...(silent.length ? [h("section", { class: "fields card", "aria-label": words.absent }, h("h3", {}, words.absent), silent)] : []));
  showRemarks();
  const all = fieldsOf(data).flatMap(({ fields }) => fields);
  const removed = read.states.filter((one) => one.state === "removed").length;
  byId("count").textContent = fill(words.counted, { n: all.filter((one) => one.value !== null).length, removed, review: read.review.length });
  byId("empty").hidden = true;
  byId("leave").hidden = false;
  if (held) byId("fields").querySelector(`[data-path="${CSS.escape(held)}"]`)?.focus();
  mark();
  dispatchEvent(new Event("shown"));
}

function showRemarks() {
  const edited = read && text.value !== read.letter ? [words.letter_edited] : [];
  byId("remarks").replaceChildren(...[...edited, ...(read?.remarks ?? [])].map((remark) => h("p", { class: "note" }, remark)));
}

// A group: the fields with a value first, then what was removed, then, folded, what the letter does not say; only the
// folded part where there is nothing else.
function section(group, fields) {
  const removed = read.states.filter((one) => one.state === "removed" && within(one.path, group));
  const notes = read.review.filter((one) => within(one.path, group));
  const denied = read.states.filter((one) => one.state === "denied" && within(one.path, group));
  const said = fields.filter((one) => one.value !== null || original(one.path) !== null || removed.some((state) => state.path === one.path));
  const silent = fields.filter((one) => !said.includes(one));
  const alone = [...removed, ...denied].filter((state) => !said.some((one) => one.path === state.path));
  if (!said.length && !silent.length && !alone.length) return null;
  const folded = (summary) => silent.length > 0 && h("details", { class: "silent" }, h("summary", {}, summary), silent.map((one) => field(one, group, [], [])));
  if (!said.length && !alone.length && !notes.length) return folded(words.fields[group] ?? group);
  return h("section", { class: "fields card", "aria-label": words.fields[group] ?? group },
    h("h3", {}, words.fields[group] ?? group),
    said.map((one) => field(one, group, removed.filter((state) => state.path === one.path), notes.filter((note) => note.path === one.path))),
    alone.map((state) => remark(state)),
    notes.filter((note) => !said.some((one) => one.path === note.path)).map((note) => h("p", { class: "review" }, h("strong", {}, words.review + " "), note.reason)),
    folded(fill(words.silent, { names: silent.map((one) => label(one.path, group)).join(", ") })));
}

const nameless = (path) => path.replace(/\[\d+\]/g, "");

const label = (path, group) => (path === group ? words.fields[group] ?? group : words.fields[nameOf(path)] ?? nameOf(path).replace(/^\w+ (\d+)$/, "$1").replace(new RegExp(`^${group} `), ""));

function field({ path, value }, group, removed, notes) {
  const id = `field-${path}`;
  const bad = wrong.has(path);
  const edited = bad || value !== original(path);
  const evidence = edited ? [] : evidenceOf(path);
  const options = given.choices[nameless(path)];
  const common = { id, "data-path": path, "aria-invalid": bad && "true", "aria-describedby": bad && `${id}-wrong`, onchange: edit, onfocus: () => tie(path), onblur: () => tie(null), onmouseenter: () => tie(path) };
  const hints = bad ? [] : [edited ? words.edited : evidence.length ? words.match[evidence[0].match] : "", !edited && evidence[0]?.support ? words.support[evidence[0].support] : ""].filter(Boolean);
  const plain = !edited && evidence[0]?.match === "exact" && evidence[0].support; // nothing to look at twice
  return h("div", { class: `one-field${plain ? " plain" : ""}${edited ? " edited" : ""}${notes.length ? " to-review" : ""}` },
    h("label", { for: id }, label(path, group)),
    options ? h("select", common, ["", ...options].map((one) => h("option", { value: one, selected: one === (value ?? "") }, words.values[one] ?? one)))
      : h("input", { ...common, value: wrong.get(path) ?? value ?? "", autocomplete: "off", spellcheck: "false" }),
    bad && h("p", { class: "wrong", id: `${id}-wrong` }, words.no_date),
    hints.length > 0 && h("p", { class: "hint" }, hints.join(" · ")),
    notes.map((note) => h("p", { class: "review" }, h("strong", {}, words.review + " "), note.reason)),
    removed.map(remark));
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
  if (read?.pages) sheets.draw(read.evidence.filter((one) => evidenceShown(one.path)), read.review, active);
  if (!read || text.value !== read.letter) return layer.replaceChildren(text.value + "\n"), grow();
  const characters = Array.from(read.letter);
  const kept = read.evidence.filter((one) => evidenceShown(one.path)).sort((a, b) => a.start - b.start || b.end - a.end);
  const pieces = [];
  let at = 0;
  for (const one of kept) {
    if (one.start < at) continue;
    pieces.push(characters.slice(at, one.start).join(""));
    const doubtful = read.review.some((note) => note.path === one.path);
    const own = one.path === active || kept.some((other) => other.path === active && other.start < one.end && one.start < other.end);
    pieces.push(h("mark", { class: `m ${doubtful ? "suspected" : "present"}${own ? " active" : ""}`, "data-at": one.path }, characters.slice(one.start, one.end).join("")));
    at = one.end;
  }
  layer.replaceChildren(...pieces, characters.slice(at).join("") + "\n");
  grow();
}

const evidenceShown = (path) => fieldsOf(data).some(({ fields }) => fields.some((one) => one.path === path && one.value === original(path)));

function tie(path) {
  if (active === path) return;
  active = path;
  mark();
  sheets.tie(path);
  for (const element of byId("fields").querySelectorAll("[data-path]")) element.closest(".one-field").classList.toggle("tied", element.dataset.path === path);
  byId("marks").querySelector(".active")?.scrollIntoView({ block: "nearest" });
}

function grow() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

function pathUnder(event) {
  return document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.at)?.dataset.at ?? null;
}

// --- changing ------------------------------------------------------------------------------------------------------

function edit(event) {
  const { path } = event.target.dataset;
  const raw = event.target.value.trim();
  const value = typed(path, raw);
  if (value === undefined) wrong.set(path, raw);
  else {
    wrong.delete(path);
    past.push(data);
    data = changed(data, path, value);
  }
  show();
  if (value === undefined) say(words.no_date);
}

function undo() {
  if (!past.length && !wrong.size) return say(words.nothing_to_undo);
  if (wrong.size) wrong.clear();
  else data = past.pop();
  show();
  say(words.undone);
}

// What is shown leaves, and nothing else: not before something was read, and not with a field that cannot be taken.
function leave(give) {
  if (!read) return say(words.nothing_read);
  const [first] = wrong.keys();
  if (first === undefined) return give(result());
  byId("fields").querySelector(`[data-path="${CSS.escape(first)}"]`).focus();
  say(words.no_date);
}

function result() {
  const edited = fieldsOf(data).flatMap(({ fields }) => fields).filter((one) => one.value !== original(one.path)).map((one) => one.path);
  return JSON.stringify({ document_type: read.document_type, data: exported(data), removed_by_grounding: read.removed_by_grounding, edited }, null, 2);
}

const DO = {
  run, undo,
  turn: () => turn(byId("sheets").hidden),
  example: () => { file = null; text.value = given.example; clear(); mark(); run(); },
  json: () => leave((content) => download(`${read.document_type}.json`, "application/json", content)),
  copy: () => leave(copy),
};

text.addEventListener("input", () => {
  if (file) { file = null; turn(false); showQueue(); }
  if (text.value === aside?.read.letter) {
    ({ read, data, past } = aside);
    aside = null;
    return show();
  }
  if (asked && isAnother(asked, text.value, selected())) clear();
  showRemarks();
  mark();
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
text.addEventListener("mousemove", (event) => { const path = read && pathUnder(event); if (path) tie(path); });
text.addEventListener("click", (event) => { const path = read && pathUnder(event); if (path) byId("fields").querySelector(`[data-path="${CSS.escape(path)}"]`)?.focus(); });
onButtons(DO);
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !text.value) { text.value = stored; mark(); run(); }
  else if (new URLSearchParams(location.search).has("example")) DO.example();
});

// For the page of a stored document, which reads its file here.
export { choose, leave };
export const current = () => ({ read, data, file });
