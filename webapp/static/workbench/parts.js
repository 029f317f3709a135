// A long text, as the API takes it: cut where its sections end, asked about part by part, and the answers put together
// as one about the whole. Lengths and places count code points.

const RANK = ["G", "V", "Z", "A"]; // of the same code in several parts, what is there goes before what is suspected or over

// The parts of a text: where each begins, and its words; cut behind a blank line, line, sentence or word.
export function parts(text, longest) {
  const characters = Array.from(text);
  const found = [];
  for (let start = 0; start < characters.length;) {
    let end = Math.min(start + longest, characters.length);
    if (end < characters.length) end = start + cut(characters.slice(start, end).join(""), longest);
    const words = characters.slice(start, end).join("");
    if (words.trim()) found.push({ start, text: words });
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

// The answer about the whole text. `answers`: for each part its events so far, the last one of each tier. The tier is the
// lowest that every answered part has reached.
export function together(pieces, answers) {
  const there = pieces.flatMap(({ start }, number) => (answers[number]?.length ? [{ start, events: answers[number] }] : []));
  const last = there.map(({ start, events }) => moved(events.at(-1), start));
  const first = there.map(({ start, events }) => moved(events[0], start));
  const layer = Math.min(...last.map((event) => event.layer), ...(there.length < pieces.length ? [1] : []));
  const only = last.filter((event) => event.layer === 1).flatMap((event) => event.beyond ?? []);
  const codes = new Map();
  for (const one of [...last.flatMap((event) => event.codes), ...only]) {
    const before = codes.get(one.code);
    if (!before || rank(one) < rank(before)) codes.set(one.code, one);
  }
  return { layer, codes: [...codes.values()], mentions: first.flatMap((event) => event.mentions ?? []) };
}

const rank = ({ certainty }) => (RANK.includes(certainty) ? RANK.indexOf(certainty) : RANK.length);

function moved(event, by) {
  const move = (span) => span && { ...span, start: span.start + by, end: span.end + by };
  const codes = (list) => list?.map((one) => ({ ...one, evidence: move(one.evidence) }));
  return { ...event, codes: codes(event.codes), beyond: codes(event.beyond), mentions: event.mentions?.map((one) => ({ ...one, span: move(one.span) })) };
}
