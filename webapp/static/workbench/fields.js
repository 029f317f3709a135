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

export const nameOf = (path) => path.replace(/^.*\./, "").replace(/\[(\d+)\]$/, (_, place) => ` ${Number(place) + 1}`);

export const within = (path, group) => path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`);
