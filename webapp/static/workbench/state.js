// What a person has decided about the codes of a text. States are values: every step makes a new one, so that undo is
// going back to the one before, whatever the step was.

export const EMPTY = Object.freeze({ text: "", queue: [], at: 0, of: 1, entries: [], mentions: [], tier: 0, choices: {}, added: [], done: [] });

const DEFAULT = { state: "open", certainty: null, side: null, as: null };
const BY_CLAIM = { present: "G", suspected: "V", history: "Z", excluded: "A" };

// A tier's codes: they replace what was there, keep what only an earlier tier had, and take the markers from the text,
// which only tier 1 reads. Once somebody has decided something, codes keep their places.
export function withTier(state, layer, codes, mentions) {
  const before = new Map(state.entries.map((entry) => [entry.code, entry]));
  const fresh = codes.map((code) => ({ ...code, certainty: code.certainty ?? before.get(code.code)?.certainty ?? BY_CLAIM[code.assertion] ?? null,
    side: code.side ?? before.get(code.code)?.side ?? null, evidence: code.evidence ?? before.get(code.code)?.evidence ?? null,
    missing: code.missing?.length ? code.missing : before.get(code.code)?.missing ?? [], tier: layer }));
  const now = new Map(fresh.map((entry) => [entry.code, entry]));
  const kept = layer === 1 ? [] : state.entries.filter((entry) => !now.has(entry.code));
  const touched = layer > 1 && Object.keys(state.choices).length > 0;
  const entries = touched
    ? [...state.entries.map((entry) => now.get(entry.code) ?? entry), ...fresh.filter((entry) => !before.has(entry.code))]
    : [...fresh, ...kept];
  return { ...state, entries, mentions: mentions ?? state.mentions, tier: layer };
}

export const choiceOf = (state, code) => state.choices[code] ?? DEFAULT;

export const choose = (state, code, change) => ({ ...state, choices: { ...state.choices, [code]: { ...choiceOf(state, code), ...change } } });

// Everything shown as a card: what the API found, then what was added by hand.
export const cards = (state) => [...state.entries, ...state.added];

export function add(state, found) {
  if (cards(state).some((card) => card.code === found.code)) return choose(state, found.code, { state: "accepted" });
  const card = { code: found.code, description: found.title, confidence: "hand", reasoning: "", evidence: null, assertion: null,
    terminal: found.terminal, pair: null, notes: [], certainty: "G", side: null, missing: [], tier: 0 };
  return choose({ ...state, added: [...state.added, card] }, found.code, { state: "accepted" });
}

// The accepted codes of a state, each as it will be written: code, title, certainty, side, and the pair that goes along.
export function accepted(state) {
  return cards(state).flatMap((card) => {
    const choice = choiceOf(state, card.code);
    if (choice.state !== "accepted") return [];
    const code = choice.as?.code ?? card.code;
    const markers = { certainty: choice.certainty ?? card.certainty, side: choice.side ?? card.side };
    const one = { code, title: choice.as?.title ?? card.description, ...markers };
    const pair = choice.as ? null : card.pair;
    return pair ? [one, { code: pair, title: card.pairTitle ?? "", ...markers }] : [one];
  }).filter((one, place, all) => all.findIndex((other) => other.code === one.code) === place);
}

export function rejected(state) {
  const right = new Set(accepted(state).map((one) => one.code));
  const wrong = cards(state).filter((card) => {
    const choice = choiceOf(state, card.code);
    return choice.state === "rejected" || (choice.state === "accepted" && choice.as);
  });
  return wrong.map((card) => card.code).filter((code) => !right.has(code));
}

// What was decided of each code shown: right, or not. One that another took the place of was not; that one was.
export function decided(state) {
  return cards(state).flatMap((card) => {
    const choice = choiceOf(state, card.code);
    if (choice.state === "open") return [];
    const { code, confidence } = card;
    if (choice.state === "accepted" && choice.as) return [{ code, confidence, right: false }, { code: choice.as.code, confidence: "hand", right: true }];
    return [{ code, confidence, right: choice.state === "accepted" }];
  });
}

// The finished text goes to the done ones, the next of the queue comes; `false` where there was nothing to finish.
export function next(state) {
  const [right, wrong] = [accepted(state), rejected(state)];
  const done = right.length || wrong.length ? [...state.done, { text: state.text, accepted: right, rejected: wrong, decided: decided(state) }] : state.done;
  const [text = "", ...queue] = state.queue;
  return { ...EMPTY, text, queue, at: queue.length || text ? state.at + 1 : 0, of: queue.length || text ? state.of : 1, done };
}

// A long text in parts the API takes, cut where a paragraph, line, sentence or word ends; lengths in code points.
export function parts(text, longest) {
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
