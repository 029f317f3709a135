// The result in the forms that others take: a line of text, a FHIR Bundle, CSV, and the feedback file of `catalog_build`.

// Conditions are after the German base profiles (de.basisprofil.r4): markers are extensions of the coding, and a manifestation is
// tied to its aetiology by one of its own. The server makes its Conditions by the same table.
import table from "./condition.json" with { type: "json" };

export const line = (codes) => codes.map(written).join("; ");

export const written = ({ code, certainty, side }) => code + (certainty ?? "") + (side ?? "");

const coding = (system, code, display) => ({ system, code, ...(display ? { display } : {}) });

// The Conditions in the order of the result; the words of the text that a code rests on are its evidence.
export function bundle(codes, version, now = new Date().toISOString()) {
  const urls = new Map(codes.map((one) => [one.code, `urn:uuid:${crypto.randomUUID()}`]));
  return { resourceType: "Bundle", type: "collection", timestamp: now, entry: codes.map((one) => ({ fullUrl: urls.get(one.code), resource: condition(one, version, urls.get(one.first)) })) };
}

function condition(one, version, first) {
  const markers = Object.entries(table.markers).filter(([name]) => one[name]).map(([name, [url, system]]) => ({ url, valueCoding: coding(system, one[name]) }));
  const status = (kind, codes) => (codes[one.certainty] ? { [`${kind === "clinical" ? kind : "verification"}Status`]: { coding: [coding(table.status + kind, codes[one.certainty])] } } : {});
  return {
    resourceType: "Condition",
    ...(first ? { extension: [{ url: table.related, valueReference: { reference: first } }] } : {}),
    ...status("clinical", table.clinical),
    ...status("ver-status", table.verified),
    code: { coding: [{ ...(markers.length ? { extension: markers } : {}), system: table.system, ...(version ? { version } : {}), code: one.code, display: one.title }] },
    subject: { display: table.nobody },
    ...(one.words ? { evidence: [{ code: [{ text: one.words }] }] } : {}),
  };
}

// Semicolons, as German spreadsheets expect; a cell that a spreadsheet would run as a formula gets a quote before it.
// `head`: the names of the columns, and of the two kinds of diagnoses.
export function csv(codes, head) {
  const cell = (value) => `"${String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  const rows = codes.map((one, place) => [one.code, one.title, one.certainty, one.side, place ? head.secondary : head.main, one.words, one.first].map(cell).join(";"));
  return "\ufeff" + [head.columns, ...rows].join("\r\n") + "\r\n";
}

// Fields of xDT (KBV): three digits of length (of the whole line with its CR and LF), four of the field, the content.
const XDT = { code: "6001", certainty: "6003", side: "6004" };

export function xdt(codes) {
  const field = (number, content) => `${String(9 + content.length).padStart(3, "0")}${number}${content}\r\n`;
  return codes.map((one) => Object.entries(XDT).filter(([name]) => one[name]).map(([name, number]) => field(number, one[name])).join("")).join("");
}

const PAGE = crypto.randomUUID?.() ?? String(Math.random()); // names nobody: a page that is saved twice is counted once

// JSON lines for `python -m catalog_build feedback import`: the texts with their codes, or, where the texts stay here, how often
// each code was accepted and rejected, by the confidence it was shown with. The mentions of a text that somebody has gone
// through to its end are for `python -m catalog_build train --texts`.
export function feedback(texts, withText, day = new Date().toISOString().slice(0, 10)) {
  const lines = withText
    ? texts.map((one) => ({ query: one.text, accepted: one.accepted, rejected: one.rejected, date: day, ...(one.mentions ? { mentions: one.mentions } : {}) }))
    : counts(texts).map((one) => ({ page: PAGE, date: day, ...one }));
  return lines.map((one) => JSON.stringify(one) + "\n").join("");
}

function counts(texts) {
  const found = new Map();
  for (const { code, confidence, right } of texts.flatMap((one) => one.decided).filter((one) => one.confidence)) {
    const one = found.get(code + confidence) ?? { code, confidence, accepted: 0, rejected: 0 };
    one[right ? "accepted" : "rejected"] += 1;
    found.set(code + confidence, one);
  }
  return [...found.values()];
}
