// The page "Formulieren": an instruction and a text become a draft, which stays marked as one.

import { Running, byId, copy, events, fill, given, say, showFailure, storedText, words } from "./page.js";

const running = new Running(byId("running"), () => stop(words.stopped));
let call = null;
let drafts = [];

function stop(why) {
  call?.abort();
  call = null;
  running.end();
  if (why) say(why);
}

function run() {
  stop();
  showFailure(byId("failure"), null);
  if (!byId("prompt").value.trim()) return byId("prompt").focus();
  if (!byId("text").value.trim()) return byId("text").focus();
  const mine = (call = new AbortController());
  running.begin(words.drafts);
  events(given.urls.answer, { prompt: byId("prompt").value, text: byId("text").value }, (event) => mine === call && take(event), mine.signal).finally(() => {
    if (mine !== call) return;
    running.end();
    call = null;
  });
}

function take(event) {
  if (event.type !== "answer") return showFailure(byId("failure"), event, run);
  if (byId("draft").value) drafts.push(byId("draft").value);
  byId("draft").value = event.answer.output;
  byId("model").textContent = event.answer.model;
  byId("draft").focus();
  say(words.drafted);
}

const DO = {
  run,
  example: () => { byId("prompt").value = given.instruction; byId("text").value = given.example; count(); },
  copy: () => byId("draft").value && copy(`${words.draft_line}\n\n${byId("draft").value}`),
  undo: () => (drafts.length ? (byId("draft").value = drafts.pop()) : say(words.nothing_to_undo)),
};

function count() {
  const long = Array.from(byId("text").value).length;
  byId("length").textContent = long > given.longest ? fill(words.too_long, { n: long, most: given.longest }) : "";
}

byId("text").addEventListener("input", count);
for (const box of [byId("text"), byId("prompt")]) {
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
}
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => DO[button.dataset.do]());
for (const button of document.querySelectorAll("[data-instruction]")) {
  button.addEventListener("click", () => { byId("prompt").value = button.dataset.instruction; byId("prompt").focus(); });
}
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !byId("text").value) { byId("text").value = stored; count(); }
});
