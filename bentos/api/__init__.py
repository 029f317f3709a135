"""The served API: routers, admission, edge, and the one place where errors become HTTP."""

from bentos.api.app import PARTS, Part, contract_paths, create_app, internal_paths
from bentos.api.edge import OnlyContractPaths
from bentos.api.startup import open_keys

__all__ = [
    "PARTS",
    "OnlyContractPaths",
    "Part",
    "contract_paths",
    "create_app",
    "internal_paths",
    "open_keys",
]
