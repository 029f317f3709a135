// The catalog's search while one types, from the second character. What is typed is posted: it stands in no address, in no
// history and in no log, unless the person takes the address of the search (#q=...), which browsers never send.

const PAUSE_MS = 120;
const LEAST = 2;
const input = document.getElementById("q");
const live = document.getElementById("live");
const share = document.getElementById("share");
let asked = 0;
let waiting;

function element(tag, text, ...children) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function row({ code, mark, title, terminal, wording }) {
  const link = element("a");
  link.href = live.dataset.code.replace("CODE", code);
  const name = element("span", code + mark);
  name.className = "code-name";
  link.append(name, " ", element("span", title));
  if (wording && wording !== title) {
    const found = element("span", ` ${wording}`);
    found.className = "hint";
    link.append(found);
  }
  const made = element("li", "", link);
  if (!terminal) made.className = "inner";
  return made;
}

function said(text) {
  const made = element("p", text);
  made.className = "hint";
  live.replaceChildren(made);
}

async function find() {
  const query = input.value.trim();
  const mine = ++asked;
  share.hidden = query.length < LEAST;
  share.firstElementChild.href = `#q=${encodeURIComponent(query)}`;
  if (query.length < LEAST) return live.replaceChildren();
  const answer = await fetch(live.dataset.search, { method: "POST", body: new URLSearchParams({ q: query }), headers: { Accept: "application/json" }, redirect: "manual", cache: "no-store" }).catch(() => null);
  const codes = answer?.ok ? await answer.json() : null;
  if (mine !== asked) return;
  if (!codes) return said(live.dataset.lost);
  if (!codes.length) return said(live.dataset.none);
  const list = element("ul", "", ...codes.map(row));
  list.className = "code-rows";
  live.replaceChildren(list);
}

function shared() {
  const query = new URLSearchParams(location.hash.slice(1)).get("q");
  if (query) { input.value = query.slice(0, input.maxLength); find(); }
}

input.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(find, PAUSE_MS);
});
addEventListener("hashchange", shared);
shared();
