"""The served API: routers, admission, edge, and the one place where errors become HTTP."""

from bentos.api.agents import server_of as agents_of
from bentos.api.app import PARTS, Part, contract_paths, create_app, internal_paths
from bentos.api.edge import OnlyContractPaths
