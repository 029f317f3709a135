// The fields of a letter: paths of the contract, what became of each, and the letter's data with somebody's changes.

// Every field in the order of the contract: `{path, value, list}`; a list has one field per entry.
export function fieldsOf(data) {
  return Object.entries(data).map(([group, value]) => ({ group, fields: flat(group, value) }));
}

function flat(path, value) {
  if (Array.isArray(value)) return value.flatMap((one, place) => flat(`${path}[${place}]`, one));
  if (value && typeof value === "object") return Object.entries(value).flatMap(([name, inner]) => flat(`${path}.${name}`, inner));
  return [{ path, value }];
}

const steps = (path) => path.match(/[^.[\]]+/g).map((step) => (/^\d+$/.test(step) ? Number(step) : step));

export function changed(data, path, value) {
  const copy = structuredClone(data);
  const way = steps(path);
  const last = way.pop();
  way.reduce((tree, step) => tree[step], copy)[last] = value === "" ? null : value;
  return copy;
}

// Entries that somebody emptied leave their list when the letter is exported; nothing else does.
export function exported(data) {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Array.isArray(value)
    ? value.filter((one) => (one && typeof one === "object" ? Object.values(one).some((inner) => inner !== null) : one !== null)) : value]));
}

const DATES = new Set(["datum", "geburtsdatum"]);
const [FIRST_YEAR, LAST_YEAR] = [1850, 2099]; // those in which the text API reads dates

// What somebody typed into a field, as the contract has it: a day as YYYY-MM-DD; `undefined` where there is no such day, and
// for a birth that is to come.
export function typed(path, value) {
  if (!value || !DATES.has(nameOf(path))) return value;
  const [, year, month, day] = value.match(/^(\d{4})-(\d\d?)-(\d\d?)$/) ?? [null, ...(value.match(/^(\d\d?)\.\s*(\d\d?)\.\s*(\d{4})$/) ?? []).slice(1).reverse()];
  const iso = year && [year, month.padStart(2, "0"), day.padStart(2, "0")].join("-");
  const real = iso && !Number.isNaN(Date.parse(iso)) && new Date(iso).toISOString().startsWith(iso);
  const past = nameOf(path) !== "geburtsdatum" || iso <= new Date().toISOString().slice(0, 10);
  return real && past && Number(year) >= FIRST_YEAR && Number(year) <= LAST_YEAR ? iso : undefined;
}

export const nameOf = (path) => path.replace(/^.*\./, "").replace(/\[(\d+)\]$/, (_, place) => ` ${Number(place) + 1}`);

export const within = (path, group) => path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`);
