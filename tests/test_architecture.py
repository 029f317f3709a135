"""The house itself: who may import whom, and that what is written about the project is true."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bentos.api.app import PARTS
from bentos.up import addresses_of
from clinical.settings import Settings
from tests import tree

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = ("clinical", "catalog_build", "bentos", "batch", "webapp", "evals")
PYTHON_FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
HEAVY = ("torch", "sentence_transformers", "pandas", "great_expectations", "flask", "sqlalchemy", "fastapi", "bentoml")

OPTIONAL = {"scipy", "tqdm", "numba", "llvmlite"}
"""bm25s imports them where they are installed, and does without where they are not."""
NOT_SERVED = OPTIONAL | {"torch", "sentence_transformers", "pandas", "great_expectations", "sklearn", "lxml"}
NOT_SERVED |= {"catalog_build", "evals", "batch", "webapp"}
"""Packages that a Bento of the text API neither installs for itself nor ships."""

ROOMS = ("text", "claims", "icd", "search", "reading", "coding", "letters")


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)


def _door(room: str) -> Iterator[list[ast.stmt]]:
    """The statements of a door, and of what it loads later; `if TYPE_CHECKING` there only repeats these names."""
    later = "if TYPE_CHECKING:\n    from clinical.{0}.later import *"
    for name in ("__init__", "later"):
        file = ROOT / "clinical" / room / f"{name}.py"
        if name == "__init__" or file.exists():
            body = ast.parse(file.read_text("utf-8")).body[1:]
            yield [node for node in body if ast.unparse(node) != later.format(room)]


# --- who may import whom: the rest is import-linter's (`make check`) ----------------------------------------------


def test_every_room_of_clinical_has_a_door_that_only_names_and_a_contract_that_keeps_it():
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    kept = {name for c in contracts if c["type"] == "protected" for name in c["protected_modules"]}
    for room in ROOMS:
        assert f"clinical.{room}.*" in kept
        for door in _door(room):
            assert all(isinstance(node, ast.ImportFrom | ast.Assign) for node in door), (
                f"clinical/{room}: names, no code"
            )


def test_every_name_that_a_door_of_clinical_hands_out_is_asked_for():
    """It stands in the door, in its own file, and with whoever asks."""
    asked = Counter()
    for path in [*PYTHON_FILES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")]:
        asked.update(set(re.findall(r"\w+", path.read_text("utf-8"))))
    for room in ROOMS:
        nodes = (node for door in _door(room) for node in door if isinstance(node, ast.ImportFrom))
        own = (node for node in nodes if f"{node.module}.".startswith(f"clinical.{room}."))
        names = {name.asname or name.name for node in own for name in node.names}
        assert {name for name in names if asked[name] < 3} == set(), f"clinical/{room}"


def test_the_ground_floor_and_the_served_api_load_nothing_heavy():
    files = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / "clinical").rglob("*.py"))]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in files]
    heavy = _heavy_after(modules, HEAVY)
    assert heavy == [], f"clinical imports {heavy} at import time"
    heavy = _heavy_after(["bentos.service", "bentos.up"], tuple(sorted(NOT_SERVED - OPTIONAL)))
    assert heavy == [], f"bentos imports {heavy} at import time: serving does not have them"


def test_the_text_api_starts_and_searches_where_nothing_but_the_serving_extra_is_installed(starter_artifact):
    code = f"""import sys; sys.modules.update(dict.fromkeys({sorted(NOT_SERVED)!r}))  # now they cannot be imported
from pathlib import Path
import bentos.service, bentos.up
from clinical.reading import SearchIndex
print(SearchIndex.load(Path({str(starter_artifact)!r})).search("Bluthochdruck")[0].code)"""
    done = _run(sys.executable, "-c", code)
    assert done.stdout.split() == ["I10.90"], done.stderr[-2000:]


def _imported_first(files: list[Path]) -> set[str]:
    """The packages that these files import when they are imported themselves, but for our own and Python's."""
    trees = [ast.parse(path.read_text("utf-8")) for path in files]
    named = [node.module or "" for tree in trees for node in tree.body if isinstance(node, ast.ImportFrom)]
    named += [
        alias.name for tree in trees for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    ]
    return {name.split(".")[0] for name in named} - set(PACKAGES) - sys.stdlib_module_names


def _heavy_after(modules: list[str], heavy: tuple[str, ...]) -> list[str]:
    code = f"import sys, {', '.join(modules)}; print(*(name for name in {heavy!r} if name in sys.modules))"
    done = _run(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


# --- the picture of the README --------------------------------------------------------------------------------------

ARROW = re.compile(r"(-->|-\.->)\|([^|]+)\|")


def _arrows() -> list[tuple[str, str, str, str]]:
    """From, to, kind of arrow and its label, as the first picture of the README draws them."""
    picture = re.search(r"```mermaid\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[1]
    drawn = []
    for line in picture.splitlines()[1:]:
        left, kind, label, right = ARROW.split(line)
        ends = ([re.match(r"\w+", end.strip())[0] for end in side.split(" & ")] for side in (left, right))
        sources, targets = ends
        drawn += [(source, target, kind, label) for source in sources for target in targets]
    return drawn


def _code(package: str) -> str:
    return "\n".join(p.read_text("utf-8") for p in PYTHON_FILES if p.relative_to(ROOT).parts[0] == package)


def test_the_imports_in_the_readmes_picture_are_those_of_the_code_and_no_package_is_missing():
    """Import-linter says which of them are allowed."""
    arrows = _arrows()
    assert len(set(arrows)) == len(arrows) >= 10
    drawn = {end for source, target, *_ in arrows for end in (source, target)}
    assert set(PACKAGES) - drawn == {"evals"}, "a package that nobody sees"
    imports = {(source, target) for source, target, kind, _ in arrows if kind == "-.->"}
    there = {(a, b) for a in PACKAGES[1:-1] for b in PACKAGES if a != b and re.search(rf"(?m)^from {b}\b", _code(a))}
    assert there == imports


# --- names -----------------------------------------------------------------------------------------------------------


ONE_NAME_TWICE = {
    "Document": "the fields of a letter (text API) and a stored document (FHIR): each contract calls its own so",
    "Patient": "the patient of a letter (text API) and a patient record (FHIR): each contract calls its own so",
    "Group": "commands whose errors are sentences, once for click and once for Flask's commands",
}
"""Class names that two rooms define, and why neither is called otherwise."""


def test_no_two_rooms_call_different_things_by_one_name():
    rooms: dict[str, set[str]] = {}
    for path in PYTHON_FILES:
        room = ".".join(path.relative_to(ROOT).with_suffix("").parts[:3])
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                rooms.setdefault(node.name, set()).add(room)
    twice = {name: sorted(where) for name, where in rooms.items() if len(where) > 1}
    assert set(twice) == set(ONE_NAME_TWICE), twice


def _length(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_no_file_is_called_utils():
    assert [str(p.relative_to(ROOT)) for p in PYTHON_FILES if p.stem in {"utils", "helpers", "misc", "common"}] == []


def test_no_docstring_opens_with_a_question_word():
    """Its first line is a plain sentence of what it is or does, so that a stranger need not guess."""
    opened = re.compile(r'^ *r?"""(?:What|Which|Where|When|Who|Whose|How|Why|Whether) ', re.MULTILINE)
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(listed) > 500
    assert [name for name in listed if opened.search((ROOT / name).read_text("utf-8"))] == []


def test_no_case_of_a_test_is_drawn_when_it_is_collected():
    """Two processes collect the suite, and both must find the same cases: no module or decorator draws one."""
    drawn = re.compile(r"\b(uuid4|uuid1|token_hex|token_urlsafe|free_port|time\.time|utcnow|now)\(")
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        early = [one for node in functions for one in node.decorator_list]
        early += [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
        found += [f"{path.name}:{node.lineno}" for node in early if drawn.search(ast.unparse(node))]
    assert found == []


# --- the README and the settings ------------------------------------------------------------------------------------


def test_the_map_is_true():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: which files belong to the project is not known")
    written = tree.read(tree.MAP.read_text("utf-8"))
    there = tree.folders()
    assert [path for path in there if path not in written] == [], "python -m tests.tree adds them"
    assert [path for path in written if path not in there] == [], "python -m tests.tree drops them"
    assert [path for path, comment in written.items() if comment in ("", tree.MISSING)] == [], "give them a comment"


def test_the_readme_can_be_read_in_five_minutes():
    assert _length(ROOT / "README.md") <= 150, "the README stays short; what is longer goes into docs/"


def test_every_target_is_in_the_documentation_and_every_command_of_ci_in_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    operating = (ROOT / "docs" / "operate.md").read_text("utf-8")
    for target in re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE):
        if target not in {"help", "clean"}:
            assert f"make {target}" in operating + readme, target
    called = re.findall(r"make [a-z-]+", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert called
    assert all(command in readme for command in called)


def test_every_setting_is_in_the_example_with_its_default_and_a_comment():
    written = _example()
    expected = {f"BEFUND_{name.upper()}": default for name, default in _defaults().items()}
    assert set(written) == set(expected)
    for name, default in expected.items():
        assert written[name] == default, f"{name} has another default in .env.example"


def _example() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for before, line in zip(["", *lines], lines, strict=False):
        if match := re.fullmatch(r"#(BEFUND_\w+)=(.*)", line):
            assert before.startswith("# "), f"{match[1]} has no comment"
            found[match[1]] = match[2]
    return found


def _defaults() -> dict[str, str]:
    def plain(value: object) -> str:
        text = "" if value is None else str(value).replace(f"{ROOT}/", "")
        return "" if text.startswith("file:") else text  # a file:// URL is absolute: the example cannot say it

    settings = Settings()
    return {name: plain(getattr(settings, name)) for name in Settings.model_fields}


def test_every_server_of_the_procfile_has_an_address_that_make_up_checks():
    names = re.findall(r"^(\w+):", (ROOT / "Procfile").read_text("utf-8"), re.MULTILINE)
    assert "api" in names
    assert set(names) <= set(addresses_of(Settings()))


# --- what is installed ----------------------------------------------------------------------------------------------


def _canonical(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group()).lower()


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {_canonical(line): line.split("==")[1] for line in lines if "==" in line}


def test_everything_that_is_asked_for_is_pinned():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *(r for name in extras if name != "all" for r in extras[name])]
    others = [requirement for requirement in asked if not requirement.startswith("befund[")]
    assert [requirement for requirement in others if _canonical(requirement) not in _pins()] == []
    assert _pins()["torch"] == "2.13.0", "no local suffix: it would name one index's build"


@pytest.mark.parametrize("file", ["bentofile.yaml", *(f"bentos/{part}.bentofile.yaml" for part in PARTS)])
def test_the_bentos_install_what_serving_needs_at_the_versions_of_the_constraints(file):
    packages = yaml.safe_load((ROOT / file).read_text("utf-8"))["python"]["packages"]
    needed = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["serve"]]
    assert sorted(map(_canonical, packages)) == sorted(map(_canonical, needed))
    for package in packages:
        assert package.partition(";")[0].split("==")[1].strip() == _pins()[_canonical(package)]


def test_serving_needs_no_torch_and_no_pandas():
    serving = {_canonical(name) for name in PROJECT["project"]["optional-dependencies"]["serve"]}
    assert not serving & {"torch", "sentence-transformers", "transformers", "pandas", "great-expectations"}
    assert not serving & {"scikit-learn", "scipy", "tqdm"}


@pytest.mark.parametrize("file", ["bentofile.yaml", *(f"bentos/{part}.bentofile.yaml" for part in PARTS)])
def test_a_bento_ships_the_served_packages_alone(file):
    shipped = yaml.safe_load((ROOT / file).read_text("utf-8"))["include"]
    assert {pattern.split("/")[0] for pattern in shipped} <= {"bentos", "clinical", "var"}


def test_make_up_installs_what_builds_the_starter_catalog():
    extras = PROJECT["project"]["optional-dependencies"]
    (installed,) = re.findall(r"/\.serve:.*\n.*'\.\[(.+)\]'", (ROOT / "Makefile").read_text("utf-8"))
    there = {_canonical(name) for extra in installed.split(",") for name in extras[extra]}
    there |= {_canonical(name) for name in PROJECT["project"]["dependencies"]}
    files = [path for path in (ROOT / "catalog_build").rglob("*.py") if path.parent.name != "training"]
    assert "lxml" in _imported_first(files)
    assert _imported_first(files) | {"tqdm"} <= there, "tqdm: what clinical.progress draws with"
