"""Lines of NDJSON for schemathesis, which generates no bodies of that kind itself (SCHEMATHESIS_HOOKS)."""

import json

import schemathesis
from hypothesis import strategies as st

_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
_TEXTS = st.sampled_from(["Husten", "Z. n. Herzinfarkt", "E11.90", "", " "]) | st.text(max_size=60) | _SCALARS
_LINES = st.fixed_dictionaries({}, optional={"text": _TEXTS, "id": _SCALARS, "other": _SCALARS}).map(json.dumps)
_BROKEN = st.sampled_from(["", "{", "[]", "null", "\u2028", '{"text": "\\ud800"}'])

schemathesis.openapi.media_type(
    "application/x-ndjson", st.lists(_LINES | _BROKEN, max_size=5).map(lambda lines: "\n".join(lines).encode())
)
