"""The bill of materials of a bundle (CycloneDX 1.6, JSON): every package with version, licence, origin and hash."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from deploy.bundle.wheels import ROOT, BundleError, output_of

_PINNED = re.compile(r"(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})")


def materials(python: Path, requirements: str) -> dict[str, Any]:
    """The packages of an environment, with the hashes of the wheels they came from. Raises BundleError.

    `requirements` are the lines of the bundle's requirements file.
    """
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--mc-type", "application", "--sv", "1.6", "--output-reproducible", "-o", "-", str(python)]
    return with_hashes(json.loads(output_of(command, "cyclonedx-py failed")), requirements)


def with_hashes(bill: Mapping[str, Any], requirements: str) -> dict[str, Any]:
    """The bill with SHA-256 of each component's wheel. Raises BundleError when a component was not in the bundle."""
    pinned = {(canonicalize_name(name), version): sha for name, version, sha in _PINNED.findall(requirements)}
    components, strange = [], []
    for component in bill.get("components", []):
        key = canonicalize_name(component["name"]), component["version"]
        if key not in pinned:
            strange.append(" ".join(key))
            continue
        components.append({**component, "hashes": [{"alg": "SHA-256", "content": pinned[key]}]})
    if strange:
        raise BundleError(f"installed and not in the bundle: {', '.join(strange)}", "its wheels alone")
    return {**bill, "components": components}
