// The whole state of the page "Kodieren" as one plain value, and every step it can take. What is shown, copied and
// exported is computed from it by the same functions, so that what leaves the page is what the page shows as accepted.
//
//   texts       one text, one case: each with what the API found in it and what was decided of that; `at`: the one shown
//   decisions   of one text: of a code and the places it rests on. An edit moves the places; where it changes the words of
//               all of them, the decision goes with them. `past`: the decisions before each decision, for undo
//   found       of one text: mentions and entries as the API gave them; `mentions`, `entries`: with somebody's corrections
//   about       of one text: sex and age of the patient, where somebody said them
//   order       of one text: the codes of its result in the order that somebody gave them; the first is the main diagnosis
//   catalog     what the catalog says of codes
//
// Places count code points, as the API does.

const BLANK = Object.freeze({ text: "", round: 0, tier: 0, found: Object.freeze({ entries: [], mentions: [] }), entries: [], mentions: [], decisions: [], past: [], order: [], about: Object.freeze({ sex: "", age: "" }) });
export const EMPTY = Object.freeze({ texts: [BLANK], at: 0, catalog: {} });

const HISTORY = 300;
const OPEN = { state: "open", certainty: null, side: null, as: null, added: null };
const BY_CLAIM = { present: "G", suspected: "V", history: "Z", excluded: "A" };
const CLAIM_OF = { G: "present", V: "suspected", Z: "history", A: "excluded" };

export const here = (state) => state.texts[state.at];
const withText = (state, change) => ({ ...state, texts: state.texts.map((one, place) => (place === state.at ? corrected({ ...one, ...change }) : one)) });

// --- texts ---------------------------------------------------------------------------------------------------------

// The share of a text's characters that has to remain when others take the place of the rest; where less does, it is
// another text: pasting the next letter often leaves a line break or the first word behind.
const SAME_FROM = 0.2;

const replaced = (old, { start, end, size }) => size > 0 && old.length - (end - start) < old.length * SAME_FROM;

export const isAnother = (before, text, selected) => !text.trim() || replaced(Array.from(before), editOf(Array.from(before), Array.from(text), selected));

// The text box holds `text` now. `selected`: what was selected before the change, in code points; `back`: the browser's
// own undo or redo, which leads back to a text with its decisions; `same`: somebody says that it is the same case, however
// much of it was replaced.
export function typed(state, text, selected = null, back = false, same = false) {
  const own = here(state);
  const earlier = back && text ? state.texts.findIndex((one) => one.text === text) : -1;
  if (earlier >= 0) return { ...state, at: earlier };
  if (text === own.text && !(selected?.start < selected?.end)) return state;
  const [old, now] = [Array.from(own.text), Array.from(text)];
  const edit = editOf(old, now, selected);
  if (!text.trim() || (!same && replaced(old, edit))) return begun(state, text);
  const move = (span) => span && moved(span, edit);
  const still = (decisions) => decisions.flatMap((one) => {
    const spans = one.spans.map(move).filter(Boolean);
    return spans.length || !one.spans.length ? [{ ...one, spans }] : [];
  });
  const mentions = own.found.mentions.map((one) => ({ ...one, span: move(one.span) })).filter((one) => one.span);
  const entries = own.found.entries.flatMap((one) => {
    const entry = { ...one, evidence: move(one.evidence) };
    return spansOf({ mentions }, entry).length || !spansOf(own.found, one).length ? [entry] : [];
  });
  return withText(state, { text, round: own.round + 1, tier: 0, found: { entries, mentions }, decisions: still(own.decisions), past: own.past.map(still) });
}

// The next text takes the place of one about which nothing was decided, and stands behind one about which something was.
export function begun(state, text) {
  const kept = state.texts.filter((one, place) => one.decisions.length || place !== state.at);
  return { ...state, texts: [...kept, { ...BLANK, text }], at: kept.length };
}

// The text after this one; an empty one behind the last.
export function next(state) {
  if (state.at + 1 < state.texts.length) return { ...state, at: state.at + 1 };
  if (!here(state).text && !here(state).decisions.length) return state;
  return { ...state, texts: [...state.texts, BLANK], at: state.texts.length };
}

export const back = (state) => ({ ...state, at: Math.max(0, state.at - 1) });

export const told = (state, about) => withText(state, { about: { ...here(state).about, ...about } });

export const turned = (state, at) => ({ ...state, at });

// A case: its first words, how many codes it has, and whether it is new, in work or done.
export function cases(state) {
  return state.texts.map((one, at) => {
    const own = { ...state, at };
    const open = cards(own).some((card) => card.state === "open");
    return { name: one.text.trim().split("\n")[0].slice(0, 40), codes: result(own).length, state: !one.decisions.length ? "new" : open || !one.tier ? "work" : "done" };
  });
}

// What of `old` was replaced, and by how many characters. The same text can come of several edits ("Gicht, Gicht" with one
// more or less of it): it is the one at the selection or the cursor, and only without one all between what both texts have
// in common.
export function editOf(old, now, selected) {
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
export function moved(span, edit) {
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
// somebody accepted stays where no place of the text could say otherwise.
export function found(state, { layer, codes, mentions = here(state).found.mentions, beyond = [] }) {
  const own = here(state);
  const before = new Map(own.found.entries.map((entry) => [entry.code, entry]));
  const listed = [...codes, ...(beyond ?? [])];
  const ledger = mentions.flatMap((mention) => mention.codes.map((code) => inLedger(code, mention)));
  const known = new Set([...listed.map(({ code }) => code), ...(layer === 1 ? [] : before.keys())]);
  const only = ledger.filter(({ code }) => !known.has(code) && known.add(code));
  const earlier = (code) => (layer > 1 || before.get(code)?.round === own.round ? before.get(code) : null);
  const fresh = [...listed, ...only].map((code) => merged(code, earlier(code.code), layer, own.round));
  const now = new Map(fresh.map((entry) => [entry.code, entry]));
  const decided = (entry) => !spansOf(own.found, entry).length && choiceOf(own, entry).state === "accepted";
  const stays = (entry) => entry.round === own.round || entry.tier > layer || decided(entry);
  const kept = own.found.entries.filter((entry) => now.has(entry.code) || stays(entry));
  return withText(state, { found: { entries: [...fresh, ...kept.filter((entry) => !now.has(entry.code))], mentions }, tier: layer });
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

// --- what was read otherwise than it is meant -----------------------------------------------------------------------

// A correction is a decision about words: that they are a mention, and what the text says of it, or that they are none.
const CORRECTION = "#";
const STATED = ["present", "suspected", "history"];
const REASONS = { excluded: "denied", family: "of-a-relative", other: "of-somebody-else", hypothetical: "hypothetical" };
const SHOWN_AS = { other: "family", hypothetical: "excluded" };

export const claimOf = ({ claim, reason }) => ({ "of-somebody-else": "other", hypothetical: "hypothetical" })[reason] ?? claim;

// Says of these words that they are a mention with this claim, or none at all (null); what was said of them before goes.
export function corrects(state, { start, end }, claim) {
  const own = here(state);
  const decisions = own.decisions.filter((one) => one.code !== CORRECTION || !one.spans.some((span) => meet(span, { start, end })));
  const made = { ...OPEN, code: CORRECTION, claim, spans: [{ start, end, edges: edges(own.text, { start, end }) }] };
  return withText(state, { decisions: [...decisions, made], past: [...own.past.slice(-HISTORY), own.decisions] });
}

// A text with its corrections over what was found. A mention that was found goes with the correction it shares most
// characters with; its codes stay where that one still states a disease.
function corrected(own) {
  const over = own.decisions.filter((one) => one.code === CORRECTION && edges(own.text, one.spans[0]) === one.spans[0].edges).map(({ claim, spans: [{ start, end }] }) => ({ claim, span: { start, end } }));
  if (!over.length) return { ...own, ...own.found };
  const shared = (one, another) => Math.min(one.end, another.end) - Math.max(one.start, another.start);
  const ownerOf = (span) => over.filter((one) => meet(one.span, span)).sort((one, another) => shared(another.span, span) - shared(one.span, span))[0];
  const made = new Map(over.map((one) => {
    const before = own.found.mentions.filter(({ span }) => ownerOf(span) === one);
    const same = before.length > 0 && claimOf(before[0]) === one.claim;
    const codes = STATED.includes(one.claim) ? [...new Set(before.flatMap((mention) => mention.codes))] : [];
    return [one, { span: one.span, claim: SHOWN_AS[one.claim] ?? one.claim, codes, side: before[0]?.side ?? null, same, certainty: same ? before[0].certainty : BY_CLAIM[one.claim] ?? null,
      reason: REASONS[one.claim] ?? (codes.length ? null : "no-code-found") }];
  }));
  const mentions = [...own.found.mentions.filter(({ span }) => !ownerOf(span)), ...[...made].filter(([{ claim }]) => claim).map(([, mention]) => mention)].sort((one, another) => one.span.start - another.span.start);
  const entries = own.found.entries.flatMap((entry) => {
    const spans = spansOf(own.found, entry);
    if (!spans.some(ownerOf)) return [entry];
    const rests = [...spans.map(ownerOf).filter((one) => one && STATED.includes(one.claim)).map((one) => made.get(one)), ...spans.filter((span) => !ownerOf(span)).map((span) => ({ span, same: true }))];
    if (!rests.length) return [];
    const evidence = entry.evidence && !ownerOf(entry.evidence) ? entry.evidence : rests[0].span;
    return [{ ...entry, evidence, ...(rests[0].same ? {} : { certainty: rests[0].certainty, assertion: rests[0].claim }) }];
  });
  return { ...own, mentions, entries };
}

// --- what was decided ----------------------------------------------------------------------------------------------

function decisionOf(own, entry) {
  const spans = spansOf(own, entry);
  const rests = (on) => edges(own.text, on) === on.edges && (!spans.length || spans.some((span) => meet(span, on)));
  return own.decisions.findLast((one) => one.code === entry.code && (!one.spans.length || one.spans.some(rests)));
}

const choiceOf = (own, entry) => decisionOf(own, entry) ?? OPEN;

// A mention without a code that was sure enough: it ends with a code that somebody chooses, or without one.
export const UNDECIDED = "?";
const undecided = ({ mentions, entries }) => mentions.flatMap((one, number) => (one.codes.length || one.reason !== "no-code-found" || entries.some(({ evidence }) => evidence && meet(evidence, one.span)) ? [] : [{
  code: UNDECIDED, key: UNDECIDED + number, description: "", confidence: null, reasoning: "", evidence: one.span, assertion: one.claim, terminal: null, pair: null,
  notes: [], missing: [], certainty: one.certainty, side: one.side, tier: 1, round: Infinity }]));

const firstPlace = (own, entry) => Math.min(...spansOf(own, entry).map(({ start }) => start));

// Everything that is shown of the text's codes in the order of the text: those found and the mentions that are undecided,
// then those that rest on no place of it. The second code of a pair is on the card of the first.
//
//   key       names the card: its code, or the number of the undecided mention
//   state     what was decided: open, accepted, rejected
//   shown     the code on the card: the one found, or the one that was chosen in its place
//   partner   the other code of a pair, and whether it goes along
//   stale     found for the text as it was before an edit, and not found again
export function cards(state) {
  const own = here(state);
  const known = made.get(own);
  if (known?.catalog === state.catalog) return known.cards;
  const all = cardsOf(state, own);
  made.set(own, { catalog: state.catalog, cards: all });
  return all;
}

const made = new WeakMap(); // a text as it is at one time has the same cards whoever asks

function cardsOf(state, own) {
  const byHand = own.decisions.filter((one) => one.added).map((one) => one.added);
  const codes = new Set(own.entries.map((entry) => entry.code));
  const seconds = new Set();
  const made = [];
  const all = [...own.entries, ...undecided(own), ...byHand.filter((one) => !codes.has(one.code))];
  const places = new Map(all.map((entry) => [entry, firstPlace(own, entry)]));
  for (const entry of all.sort((one, another) => (places.get(one) < places.get(another) ? -1 : places.get(one) > places.get(another) ? 1 : 0))) {
    if (seconds.has(entry.code)) continue;
    const choice = choiceOf(own, entry);
    const partner = choice.as ? null : partnerOf(own, entry);
    const alone = (code) => !codes.has(code) || [...byHand, ...made].some((one) => one.code === code);
    if (partner && !alone(partner.code)) seconds.add(partner.code);
    made.push({
      key: entry.code, ...entry, state: choice.state, certainty: choice.certainty ?? entry.certainty, side: choice.side ?? entry.side,
      shown: choice.as ? { ...choice.as, confidence: "hand" } : entry.code === UNDECIDED ? { code: "", title: "", terminal: null, confidence: null } : named(state, entry),
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

// Accept, reject or open a card; its partner goes along, unless another accepted card holds it. An undecided mention has
// nothing to accept before a code is chosen.
export function judged(state, card, wanted) {
  const { partner } = card;
  if (wanted === "accepted" && !card.shown.code) return state;
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
    terminal: found.terminal, pair: found.pair ?? null, notes: [], certainty: "G", side: null, missing: [], tier: 0, round: Infinity };
  return decide(state, [[made, { state: "accepted", added: made }]]);
}

// Accept all at once that is very probably right and that nobody has decided.
export function allProbable(state, doubtful = new Set()) {
  const changes = cards(state).filter((card) => card.state === "open" && card.shown.confidence === "high" && !card.stale && !doubtful.has(card.key))
    .flatMap((card) => [card, ...(card.partner ? [card.partner] : [])].map((one) => [one, { state: "accepted" }]));
  return changes.length ? decide(state, changes) : state;
}

export function undone(state) {
  const { past } = here(state);
  return past.length ? withText(state, { decisions: past.at(-1), past: past.slice(0, -1) }) : state;
}

// --- what leaves ---------------------------------------------------------------------------------------------------

// The accepted codes of the text in its order, each as it is written: code, title, certainty, side; the words it rests on;
// `mark` of the classification; `first`: of the second code of a pair, the code it stands with.
export function accepted(state) {
  const characters = charactersOf(here(state).text);
  return cards(state).filter((card) => card.state === "accepted" && card.shown.code).flatMap(({ shown, partner, certainty, side, evidence }) => {
    const words = evidence ? characters.slice(evidence.start, evidence.end).join("") : "";
    return [shown, ...(partner?.goes ? [partner] : [])].map(({ code, title, terminal }, place) => ({ code, title, terminal, certainty, side, words,
      mark: state.catalog[code]?.mark ?? "", first: place ? shown.code : null }));
  });
}

// The result: the accepted codes, each once, in the order of the text where nobody gave them another.
export function result(state) {
  const all = accepted(state);
  const same = (one) => (another) => ["code", "certainty", "side"].every((name) => (one[name] || null) === (another[name] || null));
  const once = all.filter((one, place) => all.findIndex(same(one)) === place);
  const { order } = here(state);
  const place = ({ code }) => (order.includes(code) ? order.indexOf(code) : order.length);
  return once.sort((one, another) => place(one) - place(another));
}

// A code of the result at another place of it; the first is the main diagnosis.
export function placed(state, code, to) {
  const order = result(state).map((one) => one.code).filter((one) => one !== code);
  return withText(state, { order: order.toSpliced(Math.max(0, Math.min(to, order.length)), 0, code) });
}

// What was decided of each code shown, for the feedback: right, or not. One that another took the place of was not; that
// one was. A text of which nothing was decided is left out.
export function reviewed(state) {
  return state.texts.map((one, at) => review({ ...state, at })).filter((one) => one.decided.length || one.mentions);
}

// The mentions of a text of which nothing is open, as somebody left them: their places, claims and codes. They train the
// next reading; a text that nobody has looked through says nothing about what is missing in it.
function readThrough(state) {
  const own = here(state);
  const all = cards(state);
  if (!own.tier || !own.decisions.length || all.some((card) => card.state === "open")) return null;
  return own.mentions.map((mention, number) => {
    const right = all.filter((card) => card.state === "accepted" && mentionsOf(own, card).has(number));
    const said = CLAIM_OF[right.map((card) => decisionOf(own, card)?.certainty).find(Boolean)];
    const codes = right.flatMap(({ shown, partner }) => [shown, ...(partner?.goes ? [partner] : [])]).filter(({ terminal }) => terminal !== false).map(({ code }) => code);
    return { start: mention.span.start, end: mention.span.end, claim: said ?? claimOf(mention), codes: [...new Set(codes)] };
  });
}

function review(state) {
  const decided = cards(state).filter((card) => card.state !== "open").flatMap((card) => {
    if (card.code === UNDECIDED) return card.shown.code && card.state === "accepted" ? [{ ...card.shown, right: true }] : [];
    const { code, confidence, shown, partner } = card;
    const right = card.state === "accepted";
    const also = partner ? [{ ...partner, right: partner.goes }] : [];
    return shown.code === code ? [{ code, confidence, right }, ...also] : [{ code, confidence, right: false }, ...(right ? [{ ...shown, right }] : [])];
  }).map(({ code, confidence, right }) => ({ code, confidence, right }));
  const right = new Set(decided.filter((one) => one.right).map((one) => one.code));
  const wrong = new Set(decided.filter((one) => !right.has(one.code)).map((one) => one.code));
  return { text: here(state).text, accepted: [...right], rejected: [...wrong], decided, mentions: readThrough(state) };
}
