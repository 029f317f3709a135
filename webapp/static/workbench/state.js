// The whole state of the page "Kodieren" as one plain value, and every step it can take. What is shown, copied and
// exported is computed from it by the same functions, so that what leaves the page is what the page shows as accepted.
//
//   texts       one after the other; each with what the API found in it and what was decided of that; `at`: the one shown
//   decisions   of one text: of a code and the places it rests on. An edit moves the places; where it changes the words of
//               all of them, the decision goes with them. `past`: the decisions before each decision, for undo
//   catalog     what the catalog says of codes
//
// Places count code points, as the API does.

const BLANK = Object.freeze({ text: "", group: 0, round: 0, tier: 0, entries: [], mentions: [], decisions: [], past: [] });
export const EMPTY = Object.freeze({ texts: [BLANK], at: 0, catalog: {} });

const HISTORY = 300;
const OPEN = { state: "open", certainty: null, side: null, as: null, added: null };
const BY_CLAIM = { present: "G", suspected: "V", history: "Z", excluded: "A" };

export const here = (state) => state.texts[state.at];
const withText = (state, change) => ({ ...state, texts: state.texts.map((one, place) => (place === state.at ? { ...one, ...change } : one)) });

// --- texts ---------------------------------------------------------------------------------------------------------

// The share of a text's characters that has to remain when others take the place of the rest; where less does, it is
// another text: pasting the next letter often leaves a line break or the first word behind.
const SAME_FROM = 0.2;

const replaced = (old, { start, end, size }) => size > 0 && old.length - (end - start) < old.length * SAME_FROM;

export const isAnother = (before, text, selected) => !text.trim() || replaced(Array.from(before), editOf(Array.from(before), Array.from(text), selected));

// The text box holds `text` now. `selected`: what was selected before the change, in code points; `back`: the browser's
// own undo or redo, which leads back to a text with its decisions.
export function typed(state, text, selected = null, back = false) {
  const own = here(state);
  const earlier = back && text ? state.texts.findIndex((one) => one.text === text) : -1;
  if (earlier >= 0) return { ...state, at: earlier };
  if (text === own.text && !(selected?.start < selected?.end)) return state;
  const [old, now] = [Array.from(own.text), Array.from(text)];
  const edit = editOf(old, now, selected);
  if (!text.trim() || replaced(old, edit)) return begun(state, text);
  const move = (span) => span && moved(span, edit);
  const still = (decisions) => decisions.flatMap((one) => {
    const spans = one.spans.map(move).filter(Boolean);
    return spans.length || !one.spans.length ? [{ ...one, spans }] : [];
  });
  const mentions = own.mentions.map((one) => ({ ...one, span: move(one.span) })).filter((one) => one.span);
  const entries = own.entries.flatMap((one) => {
    const entry = { ...one, evidence: move(one.evidence) };
    return spansOf({ mentions }, entry).length || !spansOf(own, one).length ? [entry] : [];
  });
  return withText(state, { text, round: own.round + 1, tier: 0, entries, mentions, decisions: still(own.decisions), past: own.past.map(still) });
}

// The next text takes the place of one about which nothing was decided, and stands behind one about which something was.
export function begun(state, text) {
  const { group } = here(state);
  const kept = state.texts.filter((one) => one.decisions.length || one.group !== group);
  return { ...state, texts: [...kept, { ...BLANK, text, group: newGroup(state) }], at: kept.length };
}

const newGroup = (state) => Math.max(...state.texts.map((one) => one.group)) + 1;

// The text after this one; an empty one behind the last.
export function next(state) {
  if (state.at + 1 < state.texts.length) return { ...state, at: state.at + 1 };
  if (!here(state).text && !here(state).decisions.length) return state;
  return { ...state, texts: [...state.texts, { ...BLANK, group: newGroup(state) }], at: state.texts.length };
}

export const back = (state) => ({ ...state, at: Math.max(0, state.at - 1) });

// A text that is too long for the API becomes several of one group, whose codes are one result; what was decided goes to
// the one that has the words, or to the first.
export function split(state, longest) {
  const own = here(state);
  let from = 0;
  const pieces = parts(own.text, longest).map((text, number) => {
    from = own.text.indexOf(text, from);
    const start = Array.from(own.text.slice(0, from)).length;
    const part = { start, end: start + Array.from(text).length };
    from += text.length;
    const place = (span) => span.start >= part.start && span.end <= part.end && { ...span, start: span.start - start, end: span.end - start };
    const decisions = own.decisions.map((one) => ({ ...one, spans: one.spans.map(place).filter(Boolean) }));
    return { ...BLANK, text, group: own.group, decisions: decisions.filter((one, at) => one.spans.length || (!number && !own.decisions[at].spans.length)) };
  });
  return { ...state, texts: state.texts.toSpliced(state.at, 1, ...pieces) };
}

// What of `old` was replaced, and by how many characters. The same text can come of several edits ("Gicht, Gicht" with one
// more or less of it): it is the one at the selection or the cursor, and only without one all between what both texts have
// in common.
function editOf(old, now, selected) {
  const delta = now.length - old.length;
  const alike = (from, to, by) => old.slice(from, to).every((character, place) => character === now[from + by + place]);
  for (const { start, end } of selected ? [selected, { start: selected.end + delta, end: selected.end }, { start: selected.start, end: selected.start - delta }] : []) {
    const size = end - start + delta;
    if (size >= 0 && start >= 0 && end <= old.length && start <= end && alike(0, start, 0) && alike(end, old.length, delta)) return { start, end, size };
  }
  let [start, behind] = [0, 0];
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  while (behind < Math.min(old.length, now.length) - start && old.at(-1 - behind) === now.at(-1 - behind)) behind += 1;
  return { start, end: old.length - behind, size: now.length - behind - start };
}

// Where a place is after an edit; null where its words are others.
function moved(span, edit) {
  if (span.end > edit.start && span.start < edit.end || span.start < edit.start && edit.start < span.end) return null;
  const by = span.start >= edit.end ? edit.size - (edit.end - edit.start) : 0;
  return { ...span, start: span.start + by, end: span.end + by };
}

// Whether each end of a place lies inside of a word. Who writes in front of a word writes on at it for a while, and then
// it is another: a decision rests until it stands there again.
const WORD = /[\p{L}\p{M}\p{N}]/u;
function edges(text, { start, end }) {
  const characters = charactersOf(text);
  const inside = (place) => WORD.test(characters[place - 1] ?? "") && WORD.test(characters[place] ?? "");
  return `${inside(start)} ${inside(end)}`;
}

let last = { text: "", characters: [] };
function charactersOf(text) {
  if (last.text !== text) last = { text, characters: Array.from(text) };
  return last.characters;
}

// --- what was found ------------------------------------------------------------------------------------------------

// A tier's codes. They replace what was there and take the markers from the text, which only tier 1 reads. What only an
// earlier tier found stays; after an edit, what a later tier found stays until that tier has answered again, and what
// somebody accepted stays where no place of the text could say otherwise. Once somebody has decided something, codes keep
// their places.
export function found(state, { layer, codes, mentions = here(state).mentions, beyond = [] }) {
  const own = here(state);
  const before = new Map(own.entries.map((entry) => [entry.code, entry]));
  const listed = [...codes, ...(beyond ?? [])];
  const ledger = mentions.flatMap((mention) => mention.codes.map((code) => inLedger(code, mention)));
  const known = new Set([...listed.map(({ code }) => code), ...(layer === 1 ? [] : before.keys())]);
  const only = ledger.filter(({ code }) => !known.has(code) && known.add(code));
  const fresh = [...listed, ...only].map((code) => merged(code, layer === 1 ? null : before.get(code.code), layer, own.round));
  const now = new Map(fresh.map((entry) => [entry.code, entry]));
  const decided = (entry) => !spansOf(own, entry).length && choiceOf(own, entry).state === "accepted";
  const stays = (entry) => entry.round === own.round || entry.tier > layer || decided(entry);
  const kept = own.entries.filter((entry) => now.has(entry.code) || stays(entry));
  const entries = own.decisions.length
    ? [...kept.map((entry) => now.get(entry.code) ?? entry), ...fresh.filter((entry) => !before.has(entry.code))]
    : [...fresh, ...kept.filter((entry) => !now.has(entry.code))];
  return withText(state, { entries, mentions, tier: layer });
}

const merged = (code, before, tier, round) => ({ ...code, tier, round,
  certainty: code.certainty ?? before?.certainty ?? BY_CLAIM[code.assertion] ?? null, side: code.side ?? before?.side ?? null,
  evidence: code.evidence ?? before?.evidence ?? null, missing: code.missing?.length ? code.missing : before?.missing ?? [] });

// A code that only the ledger has.
const inLedger = (code, { span, claim, certainty, side }) => ({ code, description: null, confidence: null, reasoning: "", evidence: span, assertion: claim,
  terminal: null, pair: null, notes: [], certainty, side });

export const learnt = (state, codes) => ({ ...state, catalog: { ...state.catalog, ...codes } });

// Codes shown that the catalog has not been asked about.
export const unknown = (state) => [...new Set(cards(state).flatMap((card) => [card.code, card.shown.code, card.partner?.code]))].filter((code) => code && !state.catalog[code]);

// The places a code rests on: the mentions that list it, and its evidence; none where it rests on the whole text.
const spansOf = ({ mentions }, { code, evidence }) => [...mentions.filter((one) => one.codes.includes(code)).map((one) => one.span), ...(evidence ? [evidence] : [])];

const meet = (one, another) => one.start < another.end && another.start < one.end;

// The numbers of the mentions that a card is tied to.
export const mentionsOf = ({ mentions }, { code, evidence }) =>
  new Set(mentions.flatMap((one, number) => (one.codes.includes(code) || (evidence && meet(one.span, evidence)) ? [number] : [])));

// --- what was decided ----------------------------------------------------------------------------------------------

function decisionOf(own, entry) {
  const spans = spansOf(own, entry);
  const rests = (on) => edges(own.text, on) === on.edges && (!spans.length || spans.some((span) => meet(span, on)));
  return own.decisions.findLast((one) => one.code === entry.code && (!one.spans.length || one.spans.some(rests)));
}

const choiceOf = (own, entry) => decisionOf(own, entry) ?? OPEN;

// Everything that is shown of the text's codes: those found, then those added by hand. The second code of a pair is on
// the card of the first.
//
//   state     what was decided: open, accepted, rejected
//   shown     the code on the card: the one found, or the one that was chosen in its place
//   partner   the other code of a pair, and whether it goes along
//   stale     found for the text as it was before an edit, and not found again
export function cards(state) {
  const own = here(state);
  const byHand = own.decisions.filter((one) => one.added).map((one) => one.added);
  const codes = new Set(own.entries.map((entry) => entry.code));
  const seconds = new Set();
  const made = [];
  for (const entry of [...own.entries, ...byHand.filter((one) => !codes.has(one.code))]) {
    if (seconds.has(entry.code)) continue;
    const choice = choiceOf(own, entry);
    const partner = choice.as ? null : partnerOf(own, entry);
    const alone = (code) => !codes.has(code) || [...byHand, ...made].some((one) => one.code === code);
    if (partner && !alone(partner.code)) seconds.add(partner.code);
    made.push({
      ...entry, state: choice.state, certainty: choice.certainty ?? entry.certainty, side: choice.side ?? entry.side,
      shown: choice.as ? { ...choice.as, confidence: "hand" } : named(state, entry),
      partner: partner && { ...partner, ...named(state, partner), goes: choice.state === "accepted" && choiceOf(own, partner).state === "accepted" },
      stale: entry.round < own.round && own.tier >= entry.tier,
    });
  }
  return made;
}

function named({ catalog }, { code, description, terminal, confidence }) {
  const known = catalog[code];
  return { code, title: description ?? known?.title ?? "", terminal: terminal ?? known?.terminal ?? null, confidence: confidence ?? null };
}

function partnerOf(own, entry) {
  const is = (one) => (entry.pair ? one.code === entry.pair : one.pair === entry.code);
  const known = own.entries.find(is) ?? own.decisions.find((one) => one.added && is(one.added))?.added;
  return known ?? (entry.pair ? { code: entry.pair, evidence: entry.evidence } : null);
}

// One decision, of one or more codes at once; undo goes back to before it.
function decide(state, changes) {
  const own = here(state);
  let { decisions } = own;
  for (const [entry, change] of changes) {
    const before = decisionOf({ ...own, decisions }, entry);
    const after = { ...OPEN, ...before, ...change, code: entry.code, spans: spansOf(own, entry).map((span) => ({ ...span, edges: edges(own.text, span) })) };
    decisions = before ? decisions.map((one) => (one === before ? after : one)) : [...decisions, after];
  }
  return withText(state, { decisions, past: [...own.past.slice(-HISTORY), own.decisions] });
}

// Accept, reject or open a card; its partner goes along, unless another accepted card holds it.
export function judged(state, card, wanted) {
  const { partner } = card;
  const held = partner && wanted !== "accepted" && cards(state).some((one) => one.code !== card.code && one.state === "accepted" && [one.code, one.partner?.code].includes(partner.code));
  return decide(state, [[card, { state: wanted }], ...(partner && !held ? [[partner, { state: wanted }]] : [])]);
}

// Let the partner of a card go along, or not.
export const joined = (state, { partner }, goes) => decide(state, [[partner, { state: goes ? "accepted" : "rejected" }]]);

// Another code in the place of a card's own; its own again. A pair is one of found codes, so the partner is open then.
export const instead = (state, card, found) =>
  decide(state, [[card, { state: "accepted", as: found.code === card.code ? null : { code: found.code, title: found.title, terminal: found.terminal } }],
    ...(card.partner ? [[card.partner, { state: found.code === card.code ? "accepted" : "open" }]] : [])]);

// `certainty` or `side` of a card: a letter, or "" for none.
export const marked = (state, card, what, letter) => decide(state, [[card, { [what]: letter }]]);

export function added(state, found) {
  const card = cards(state).find((one) => one.code === found.code);
  if (card) return decide(state, [[card, { state: "accepted", as: null }]]);
  const made = { code: found.code, description: found.title, confidence: "hand", reasoning: "", evidence: null, assertion: null,
    terminal: found.terminal, pair: null, notes: [], certainty: "G", side: null, missing: [], tier: 0, round: Infinity };
  return decide(state, [[made, { state: "accepted", added: made }]]);
}

export function undone(state) {
  const { past } = here(state);
  return past.length ? withText(state, { decisions: past.at(-1), past: past.slice(0, -1) }) : state;
}

// --- what leaves ---------------------------------------------------------------------------------------------------

// The accepted codes of the text, each as it is written: code, title, certainty, side.
export function accepted(state) {
  return cards(state).filter((card) => card.state === "accepted").flatMap(({ shown, partner, certainty, side }) =>
    [shown, ...(partner?.goes ? [partner] : [])].map(({ code, title, terminal }) => ({ code, title, terminal, certainty, side })));
}

// The result: the accepted codes of the text, and of those it was one with before it was split; each once.
export function result(state) {
  const { group } = here(state);
  const all = state.texts.flatMap((one, at) => (one.group === group ? accepted({ ...state, at }) : []));
  const same = (one) => (another) => ["code", "certainty", "side"].every((name) => (one[name] || null) === (another[name] || null));
  return all.filter((one, place) => all.findIndex(same(one)) === place);
}

// What was decided of each code shown, for the feedback: right, or not. One that another took the place of was not; that
// one was. A text of which nothing was decided is left out.
export function reviewed(state) {
  return state.texts.map((one, at) => review({ ...state, at })).filter((one) => one.decided.length);
}

function review(state) {
  const decided = cards(state).filter((card) => card.state !== "open").flatMap((card) => {
    const { code, confidence, shown, partner } = card;
    const right = card.state === "accepted";
    const also = partner ? [{ ...partner, right: partner.goes }] : [];
    return shown.code === code ? [{ code, confidence, right }, ...also] : [{ code, confidence, right: false }, ...(right ? [{ ...shown, right }] : [])];
  }).map(({ code, confidence, right }) => ({ code, confidence, right }));
  const right = new Set(decided.filter((one) => one.right).map((one) => one.code));
  const wrong = new Set(decided.filter((one) => !right.has(one.code)).map((one) => one.code));
  return { text: here(state).text, accepted: [...right], rejected: [...wrong], decided };
}

// A long text in parts the API takes, cut where a paragraph, line, sentence or word ends; lengths in code points.
function parts(text, longest) {
  const characters = Array.from(text);
  const found = [];
  for (let start = 0; start < characters.length;) {
    let end = Math.min(start + longest, characters.length);
    if (end < characters.length) end = start + cut(characters.slice(start, end).join(""), longest);
    const part = characters.slice(start, end).join("").trim();
    if (part) found.push(part);
    start = end;
  }
  return found;
}

function cut(piece, longest) {
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const at = piece.lastIndexOf(end);
    if (at > piece.length / 3) return Array.from(piece.slice(0, at + end.length)).length;
  }
  return longest;
}
