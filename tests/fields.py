"""The table of fields of the text API in docs/text-api.md, written from its OpenAPI document.

python -m tests.fields
"""

from __future__ import annotations

import re
from typing import Any

from bentos.api import description
from tests.docs import ROOT

PAGE = ROOT / "docs" / "text-api.md"
_BETWEEN = re.compile(r"(<!-- fields -->\n).*?(<!-- /fields -->)", re.DOTALL)
Schema = dict[str, Any]


def table() -> str:
    """A heading, a sentence and a table for each model: those of bodies first, then what they and the answers hold."""
    document = description.document()
    schemas = document["components"]["schemas"]
    bodies = description.named([one.get("requestBody") for one in description.operations(document)])
    names = [*dict.fromkeys(bodies), *sorted(set(schemas) - set(bodies) - {"Problem", "ResearchEvent"})]
    return "\n".join(_section(name, schemas[name]) for name in names)


def _section(name: str, schema: Schema) -> str:
    said = " ".join(schema.get("description", "").split()).replace("None", "null")
    head = f"### {name}\n\n{said}\n\n| field | type | |\n|---|---|---|\n"
    required = set(schema.get("required", ()))
    rows = (
        f"| `{field}` | {_type(given)} | {_rules(given, field in required)} |\n"
        for field, given in schema["properties"].items()
    )
    return head + "".join(rows)


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "any"))


def _rules(schema: Schema, required: bool) -> str:
    inner = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    bounds = [
        f"{inner.get(low, 'up')} to {inner[high]}{unit}"
        for low, high, unit in (("minLength", "maxLength", " characters"), ("minimum", "maximum", ""))
        if high in inner
    ]
    default = schema.get("default")
    given = f"default `{str(default).lower()}`" if isinstance(default, bool | int) else "optional"
    return ", ".join([*bounds, "" if required else given]).strip(", ")


def page() -> str:
    """The page with the table of today."""
    return _BETWEEN.sub(lambda found: f"{found[1]}{table()}{found[2]}", PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
