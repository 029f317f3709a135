// The page of a stored document: its file is read as if it had been chosen, its diagnoses are coded, and both leave as a FHIR
// document, or are kept beside the letter when somebody presses for it. Another file or text on the page has none of this.

import { byId, download, failureOf, given, h, post, say, showFailure, words } from "./page.js";
import { choose, current, leave } from "./extraction.js";
import { written } from "./outcome.js";

const { stored } = given;
const panel = h("section", { class: "fields card", "aria-label": words.codes, hidden: true });
const buttons = [["as_fhir", save], ["keep", keep]].map(([name, does]) => h("button", { class: "button quiet", type: "button", onclick: () => leave(does) }, words[name]));
const answered = h("p", { class: "hint", role: "status", hidden: true });
let own = null; // the stored file, once it is chosen
let call = null;
let asked = ""; // the diagnoses that were coded last
let codes = null;
const left = new Set(); // codes that do not go along

// A call of this page: its answer, or null with the failure said.
async function told(url, body, signal) {
  const answer = await post(url, body, signal).catch((error) => { if (error.name === "AbortError") throw error; return null; });
  const failure = failureOf(answer);
  const json = !failure && (answer.headers.get("Content-Type") ?? "").startsWith("application/json") ? await answer.json() : null;
  if (!failure && json?.type !== "failure") return json ?? (await answer.text());
  showFailure(byId("failure"), failure ?? json);
  return null;
}

async function code() {
  const diagnoses = (current().data.diagnosen ?? []).map((one) => one ?? "");
  if (JSON.stringify(diagnoses) === asked) return;
  asked = JSON.stringify(diagnoses);
  call?.abort();
  call = new AbortController();
  codes = null;
  draw(words.coding);
  const answer = await told(stored.codes, { diagnoses }, call.signal).catch(() => undefined);
  if (answer === undefined) return; // another one has begun
  codes = answer?.codes ?? [];
  left.clear();
  for (const one of codes) if (one.confidence !== "high") left.add(one.code);
  draw();
}

function draw(instead = "") {
  panel.replaceChildren(h("h3", {}, words.codes), ...(codes?.length ? codes.map(row) : [h("p", { class: "hint" }, instead || words.no_codes)]));
}

function row(one) {
  const change = (event) => left[event.target.checked ? "delete" : "add"](one.code);
  const diagnosis = Array.from(current().data.diagnosen[one.line] ?? "").slice(one.start, one.end).join("");
  return h("p", { class: "one-code" }, h("label", {}, h("input", { type: "checkbox", checked: !left.has(one.code), "data-code": one.code, onchange: change }), " ",
    h("strong", {}, written({ ...one, code: one.code + one.mark })), " ", one.title),
    h("span", { class: "hint" }, [diagnosis, words.confidence[one.confidence]].filter(Boolean).join(" · ")));
}

function checked() {
  const { read, data } = current();
  return { document_type: read.document_type, data, read: read.data, evidence: read.evidence, review: read.review, text: read.text ?? "", model: read.model,
    codes: (codes ?? []).filter((one) => !left.has(one.code)) };
}

async function save() {
  const answer = await told(stored.fhir, checked());
  if (answer) download(`${stored.name}.fhir.json`, "application/fhir+json", typeof answer === "string" ? answer : JSON.stringify(answer));
}

async function keep() {
  const answer = await told(stored.keep, checked());
  if (!answer) return;
  answered.replaceChildren(words.kept_beside, " ", h("a", { href: answer.url }, words.open_kept));
  answered.hidden = false;
  say(words.kept_beside);
}

addEventListener("shown", () => {
  const mine = own !== null && current().file === own;
  for (const one of [panel, ...buttons]) one.hidden = !mine;
  answered.hidden = true;
  if (mine) code();
});

byId("fields").after(panel);
byId("leave").append(...buttons);
byId("leave").after(answered);
try {
  const answer = await fetch(stored.file, { cache: "no-store" });
  const failure = failureOf(answer);
  if (failure) showFailure(byId("failure"), failure);
  else {
    const chosen = choose([new File([await answer.blob()], stored.name)]);
    await chosen;
    own = current().file;
  }
} catch {
  showFailure(byId("failure"), failureOf(null));
}
