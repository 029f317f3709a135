// The page "Formulieren": an instruction and a text become a draft, which stays marked as one.

import { Work, byId, copy, fill, given, onButtons, onRunKey, say, selection, showFailure, storedText, words } from "./page.js";
import { isAnother } from "./state.js";

const work = new Work();
const selected = selection(byId("text"));
let drafts = [];
let asked = ""; // the text that the draft is of

function run() {
  work.stop();
  showFailure(byId("failure"), null);
  if (!byId("prompt").value.trim()) return byId("prompt").focus();
  if (!byId("text").value.trim()) return byId("text").focus();
  asked = byId("text").value;
  work.begin(words.drafts, given.urls.answer, { prompt: byId("prompt").value, text: byId("text").value }, take);
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

// No draft stays beside another text than its own.
byId("text").addEventListener("input", () => {
  count();
  if (!asked || !isAnother(asked, byId("text").value, selected())) return;
  work.stop();
  asked = "";
  if (!byId("draft").value) return;
  drafts.push(byId("draft").value);
  [byId("draft").value, byId("model").textContent] = ["", ""];
  say(words.draft_left);
});
for (const box of [byId("text"), byId("prompt")]) onRunKey(box, run);
onButtons(DO);
for (const button of document.querySelectorAll("[data-instruction]")) {
  button.addEventListener("click", () => { byId("prompt").value = button.dataset.instruction; byId("prompt").focus(); });
}
storedText(byId("failure")).then((stored) => {
  if (stored !== null && !byId("text").value) { byId("text").value = stored; count(); }
});
