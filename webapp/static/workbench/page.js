// What every page of the workbench needs: its words and addresses, elements, calls that can be left, downloads.
// Nothing of a text is kept: no storage, no address, no console.

export const given = JSON.parse(document.getElementById("given").textContent);
export const words = given.words;
export const byId = (id) => document.getElementById(id);

// The page is served inert. The modules of a page run in one task, this one first: nobody acts before all handlers are there.
byId("content").inert = false;

// An element: attributes (class, on..., data...), then children; text is text, never markup.
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

// A sentence for those who hear the page; `seen`: for everybody, for as long as it takes to read it.
let hiding = 0;
export function say(sentence, seen = false) {
  byId("said").textContent = sentence;
  byId("said").classList.toggle("seen", seen);
  clearTimeout(hiding);
  if (seen) hiding = setTimeout(() => byId("said").classList.remove("seen"), 4_000);
}

let token = document.querySelector('meta[name="csrf-token"]')?.content ?? "";

// Post JSON. Who has signed in again has another token: then it is asked for, and the call is made once more.
export async function post(url, body, signal) {
  const ask = () => fetch(url, {
    method: "POST", redirect: "manual", cache: "no-store", signal,
    headers: { "Content-Type": "application/json", "X-CSRFToken": token, Accept: "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await ask();
  return answer.status === 400 && (await renewed()) ? ask() : answer;
}

async function renewed() {
  const answer = await fetch(location.pathname, { cache: "no-store", redirect: "manual" });
  const page = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page && page.querySelector('meta[name="csrf-token"]')?.content;
  if (fresh) token = fresh;
  return Boolean(fresh);
}

const lost = (message) => ({ type: "failure", kind: "web", part: words.web, message, remedy: "" });

// Why an answer of the webapp is none, as a failure; null for one that is. `none`: what else it can be.
export function failureOf(answer, none = words.web_down) {
  if (answer === null) return lost(words.web_lost);
  if (answer.type === "opaqueredirect" || [400, 401].includes(answer.status)) return { ...lost(words.signed_out), remedy: words.sign_in_again, signIn: true };
  return answer.ok ? null : lost(none);
}

// Post, then give each event to `take`. A failure is an event of type `failure`, whatever it was.
async function events(url, body, take, signal) {
  try {
    const answer = await post(url, body, signal);
    const type = answer.headers.get("Content-Type") ?? "";
    if (type.startsWith("application/json")) return take(await answer.json());
    const failure = failureOf(answer);
    if (failure) return take(failure);
    await read(answer.body.getReader(), take);
  } catch (error) {
    if (error.name !== "AbortError") take(lost(words.web_lost));
  }
}

async function read(reader, take) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const pieces = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) {
      const event = parsed(piece.trim());
      if (event) take(event);
    }
  }
}

// An event; null for a ping, and for one that was cut in two.
function parsed(piece) {
  try {
    return piece.startsWith("data: ") ? JSON.parse(piece.slice(6)) : null;
  } catch {
    return null;
  }
}

// What runs, since when, and how to stop it: never a spinner alone.
export class Running {
  constructor(box, stop) {
    this.box = box;
    this.stop = stop;
    this.timer = 0;
  }

  // `usual`: after how many seconds it takes longer than it should; 0: that cannot be said.
  begin(what, usual = 0) {
    this.usual = usual;
    this.since = performance.now();
    this.box.hidden = false;
    this.clock = h("span", { class: "clock" }, "0 " + words.seconds);
    this.what = h("span", { class: "what-runs" }, what);
    this.box.replaceChildren(h("span", { class: "spinner", "aria-hidden": "true" }), this.what, this.clock,
      h("button", { class: "button quiet", type: "button", onclick: this.stop }, words.cancel));
    clearInterval(this.timer);
    this.timer = setInterval(() => {
      const seconds = Math.floor((performance.now() - this.since) / 1000);
      this.clock.textContent = seconds + " " + words.seconds;
      if (this.usual && seconds >= this.usual) this.what.textContent = words.unusual;
    }, 250);
  }

  tell(what) {
    this.usual = 0;
    if (!this.box.hidden) this.what.textContent = what;
  }

  end() {
    clearInterval(this.timer);
    this.box.hidden = true;
    this.box.replaceChildren();
  }
}

const AT_ONCE = 3; // of the four calls that the server holds open for one person

// The call of a page, one at a time: shown while it runs, ended by its button, by the next one, or by leaving.
export class Work {
  constructor(before = () => {}) {
    this.before = before; // done at every stop
    this.running = new Running(byId("running"), () => this.stop(words.stopped));
    this.call = null;
  }

  stop(why) {
    this.before();
    this.call?.abort();
    this.call = null;
    this.running.end();
    if (why) say(why);
  }

  begin(what, url, body, take, usual) {
    this.each(what, url, [body], take, usual);
  }

  // Several calls that are one piece of work; `take` gets each event with the number of its body. Events of a call that is
  // no longer the page's own are dropped.
  each(what, url, bodies, take, usual) {
    const mine = (this.call = new AbortController());
    this.running.begin(what, usual);
    let next = 0;
    const some = async () => {
      while (next < bodies.length && mine === this.call) {
        const number = next++;
        await events(url, bodies[number], (event) => mine === this.call && take(event, number), mine.signal);
      }
    };
    Promise.all(Array.from({ length: Math.min(AT_ONCE, bodies.length) }, some)).finally(() => {
      if (mine !== this.call) return;
      this.running.end();
      this.call = null;
    });
  }
}

// Strg Enter in a box does what the page's button does.
export function onRunKey(box, run) {
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
}

// What was selected in a box before its last change, in code points; null where the browser did not say.
export function selection(box) {
  let last = null;
  const place = (unit) => Array.from(box.value.slice(0, unit)).length;
  box.addEventListener("beforeinput", () => { last = { start: place(box.selectionStart), end: place(box.selectionEnd) }; });
  return () => { const it = last; last = null; return it; };
}

// Buttons say by `data-do` which of these they do.
export function onButtons(does) {
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => does[button.dataset.do]());
}

// A failure: which part, what happened, what to do; and a button that tries again.
export function showFailure(box, failure, again) {
  if (!failure) return box.replaceChildren();
  const wait = failure.retry_after ? " " + fill(words.in_seconds, { n: failure.retry_after }) : "";
  box.replaceChildren(h("div", { class: "note error" },
    h("p", {}, h("strong", {}, failure.part + ": "), `${failure.message} ${failure.remedy ?? ""}${wait}`.trim()),
    h("p", { class: "kept" }, words.kept),
    failure.signIn && h("a", { class: "button", href: given.urls.login, target: "_blank", rel: "noopener" }, words.sign_in), " ",
    again && h("button", { class: "button quiet", type: "button", onclick: again }, words.again)));
}

const MOST_SAID = 80; // characters

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(fill(words.copied, { what: text.length > MOST_SAID ? `${text.slice(0, MOST_SAID)}…` : text }), true);
    return true;
  } catch {
    say(words.not_copied, true);
    return false;
  }
}

export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  say(fill(words.saved, { name }), true);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A stored document that the address names by its ids: its text, or null with a word said.
export async function storedText(box) {
  const wanted = new URLSearchParams(location.search);
  const [place, document] = [wanted.get("place"), wanted.get("document")];
  if (!/^[0-9a-f-]{36}$/.test(place ?? "") || !/^[0-9a-f-]{36}$/.test(document ?? "")) return null;
  try {
    const answer = await fetch(`${given.urls.documents}${place}/${document}/file?preview=1`, { cache: "no-store" });
    if (answer.ok && (answer.headers.get("Content-Type") ?? "").startsWith("text/plain")) return await answer.text();
  } catch { /* said below */ }
  box.replaceChildren(h("p", { class: "note error" }, words.not_text));
  return null;
}
