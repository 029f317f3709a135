"""Notebooks explain and define nothing: how they are stored, what they may hold, and that a run gives its results.

That they run from top to bottom on the starter catalog is tested by nbval (`notebooks/conftest.py`).
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import nbformat
import pytest
from matplotlib.figure import Figure

from evals.lab import Lab
from evals.lab import run as notebooks
from evals.lab.pages import Sizes, declared_sizes, read_records
from evals.load.servers import running
from evals.report import plots
from tests.serving import free_port

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
LINES = 6
COMPUTED = "{}"
OPENING = re.compile(r"\A# \d\d [^\n]+\n+\*\*[^*]+\?\*\*\n\nNeeds `CATALOG`[^\n]*\.\n")
DRAWN = re.compile(r"\.(?:bar|barh|errorbar|ecdf|stairs|boxplot)\(|plots\.(?:shares|curve)\(")
COUNTED = re.compile(r"of=|n = |bar_label")
WITH_INTERVAL = re.compile(r"95 %|plots\.|quartiles|no interval")


def _cells(path, kind="code"):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def _tags(cell):
    return cell.metadata.get("tags", [])


def _tree(cell):
    return ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.MULTILINE))


def test_there_are_notebooks():
    assert NOTEBOOKS


def test_they_are_stored_without_outputs():
    program = Path(sys.executable).with_name("nbstripout")
    done = subprocess.run([program, "--verify", *NOTEBOOKS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"nbstripout notebooks/*.ipynb removes them:\n{done.stdout}{done.stderr}"


@each_notebook
def test_outputs_are_kept_only_where_they_are_compared(path):
    assert _cells(path)
    for cell in _cells(path):
        assert ("keep_output" in _tags(cell)) == ("nbval-check-output" in _tags(cell)) == bool(cell.outputs)
        assert all(set(output) <= {"output_type", "name", "text"} for output in cell.outputs), "text alone is stable"


@each_notebook
def test_no_path_of_a_machine_is_in_it(path):
    found = re.findall(r"(?<![\w.])/(?:home|root|Users|work|tmp|var)/\S*|\b[A-Z]:\\\\\S*", path.read_text("utf-8"))
    assert found == []


@each_notebook
def test_it_opens_with_a_question_and_closes_with_its_computed_answer(path):
    *cells, answer, again = nbformat.read(path, as_version=4).cells
    assert OPENING.match(cells[0].source), "a title with the number, the question in bold, what it needs"
    assert answer.cell_type == "code"
    assert _tags(answer) == ["answer"]
    assert "Markdown(" in answer.source
    assert any(isinstance(node, ast.FormattedValue) for node in ast.walk(_tree(answer))), "the answer is computed"
    assert again.source.startswith("## Change this and run again\n\n- "), "what to try next"


@each_notebook
def test_what_it_draws_has_its_number_and_its_interval(path):
    """Of a whole catalog there is no interval, and the axis says so; `plots` draws both by itself."""
    for cell in _cells(path):
        if DRAWN.search(cell.source):
            assert COUNTED.search(cell.source), cell.source
            assert WITH_INTERVAL.search(cell.source), cell.source


def test_points_and_curves_say_what_they_are_of():
    figure = Figure()
    axis, other = figure.subplots(2)
    plots.shares(axis, ["one", "two"], [(0.5, 0.4, 0.6), (0.2, 0.1, 0.3)], of=[120, 1_200])
    assert [one.get_text() for one in axis.get_yticklabels()] == ["one (n = 120)", "two (n = 1,200)"]
    plots.shares(other, ["one"], [(0.5, 0.4, 0.6)], "top-1", of=30)
    plots.shares(other, ["one"], [(0.6, 0.5, 0.7)], "top-10", of=[30])
    assert [one.get_text() for one in other.get_yticklabels()] == ["one"]
    assert other.get_legend_handles_labels()[1] == ["top-1 (n = 30)", "top-10 (n = 30)"]
    assert len({line.get_color() for line in other.lines}) > 1
    plots.curve(axis, [1, 2], [(0.5, 0.4, 0.6), (0.2, 0.1, 0.3)], "found", of=[8, 120])
    plots.curve(axis, [1, 2], [(0.5, 0.4, 0.6), (0.2, 0.1, 0.3)], of=7)
    assert [one.get_text() for one in axis.get_legend().get_texts()][-2:] == ["found (n = 8 to 120)", "n = 7"]


def test_a_notebook_that_lacks_what_it_needs_is_left_out_and_says_so(starter_artifact, tmp_path):
    """Of a catalog whose official files are not named the others run all the same."""
    elsewhere = shutil.copytree(starter_artifact, tmp_path / "other")
    manifest = json.loads((elsewhere / "manifest.json").read_text())
    manifest["sources"] = dict.fromkeys(manifest["sources"], "0" * 64)
    (elsewhere / "manifest.json").write_text(json.dumps(manifest))
    named = {path.name[:2]: path for path in NOTEBOOKS}
    bare, whole = Lab.open(str(elsewhere)), Lab.open(str(starter_artifact))
    missing = {number for number, path in named.items() if notebooks.lacks(path, bare)}
    assert missing == {"03", "05", "06", "08", "10"}
    assert not any(notebooks.lacks(path, whole) for path in NOTEBOOKS)
    (tmp_path / "mine.tsv").write_text("query\tcodes\nHusten\tR05\n")
    own = Lab.open(str(elsewhere), data=str(tmp_path / "mine.tsv"))
    assert {number for number, path in named.items() if notebooks.lacks(path, own)} == {"03", "10"}
    done = _evals("--catalog", elsewhere, "--only", "05", "--out", tmp_path / "out")
    assert (done.returncode, "05_robustness left out: it needs `CATALOG`" in done.stderr) == (0, True)


@each_notebook
def test_every_sentence_of_its_answer_is_computed(path):
    """A sentence without a figure, a name or a condition stands whatever was measured: it belongs above the answer."""
    cell = _tree(_cells(path)[-1])
    chosen = {id(part) for node in ast.walk(cell) if isinstance(node, ast.IfExp) for part in ast.walk(node)}
    said = [node for node in ast.walk(cell) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for text in said for part in ast.walk(text) if part is not text}
    said += [
        node
        for node in ast.walk(cell)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in chosen | inside
    ]
    sentences = [one for text in said for one in _sentences(text)]
    assert sentences
    assert [one for one in sentences if COMPUTED not in one] == [], "nothing of them is computed"


def _sentences(text):
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    shown = "".join(part.value if isinstance(part, ast.Constant) else COMPUTED for part in parts)
    return [one for one in re.split(r"(?<=\.)\s+", shown.strip()) if one.endswith(".")]


@each_notebook
def test_its_parameters_come_first(path):
    first = _cells(path)[0]
    assert _tags(first) == ["parameters"]
    assert {"CATALOG", "SOURCE"} <= {node.targets[0].id for node in _tree(first).body}


@each_notebook
def test_it_defines_nothing(path):
    assert _cells(path)
    for cell in _cells(path):
        for node in ast.walk(_tree(cell)):
            assert not isinstance(node, ast.ClassDef | ast.AsyncFunctionDef)
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < LINES, f"{node.name} belongs into a package"


# --- running them ---------------------------------------------------------------------------------------------------


def _evals(*arguments):
    command = [sys.executable, "-m", "evals", "notebooks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def test_a_run_leaves_an_executed_copy_a_page_without_scripts_and_pictures(starter_artifact, tmp_path, capsys):
    arguments = ("--catalog", starter_artifact, "--only", "02", "--size", "DRAWS=3", "--out", tmp_path / "reports")
    done = _evals(*arguments)
    assert done.returncode == 0, done.stderr
    (notebook,) = (path for path in NOTEBOOKS if path.name.startswith("02_"))
    executed = nbformat.read(tmp_path / "reports" / notebook.name, as_version=4)
    assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")
    page = (tmp_path / "reports" / f"{notebook.stem}.html").read_text("utf-8")
    assert "<script" not in page
    assert re.findall(r"""(?:src|href)=["']?(?:https?:)?//[^"']+|@import|url\(["']?(?:https?:)?//""", page) == []
    pictures = list((tmp_path / "reports" / "pictures").glob("*.png"))
    assert pictures
    assert all(path.stat().st_size < 80_000 for path in pictures)

    docs = ["--only", "02", "--out", str(tmp_path / "reports"), "--docs", str(tmp_path / "docs")]
    assert notebooks.main(docs) == 0
    written = (tmp_path / "docs" / "notebooks.md").read_text("utf-8")
    shown = re.findall(r"!\[[^]]+\]\((pictures/[^)]+)\)", written)
    assert len(shown) == len(pictures)
    assert all((tmp_path / "docs" / picture).is_file() for picture in shown)
    (record,) = read_records(tmp_path / "docs")
    assert (record.sizes, record.on["catalog"]) == ({"DRAWS": 3}, "the starter catalog")
    assert f"`{record.command}`, {record.date}" in written
    assert record.command.endswith("ONLY=02 DRAWS=3")

    executed.metadata.papermill.parameters["DRAWS"] = 2
    nbformat.write(executed, tmp_path / "reports" / notebook.name)
    assert notebooks.main(docs) == 2
    assert "was run smaller than the page: DRAWS 2 (page: 3)" in capsys.readouterr().err
    assert (tmp_path / "docs" / "notebooks.md").read_text("utf-8") == written
    assert notebooks.main([*docs, "--smaller"]) == 0
    assert read_records(tmp_path / "docs")[0].sizes == {"DRAWS": 2}


def test_sizes_and_own_data_reach_the_notebooks_that_declare_them():
    """Every size that a person passes to `make notebooks` has a home in each notebook that draws queries."""
    sizes = Sizes({"QUERIES": 7}, full=True)
    asked = {path.name[:2]: sizes.for_notebook(path, {"DATA": "mine.tsv", "CATALOG": "DIR"}) for path in NOTEBOOKS}
    assert {name for name, own in asked.items() if own.get("QUERIES") == 7} == {"03", "05", "06", "10"}
    assert {name for name, own in asked.items() if "DATA" in own} == set(asked) - {"00", "01", "02", "07", "13", "14"}
    assert all(own["CATALOG"] == "DIR" for own in asked.values())
    for path in NOTEBOOKS:
        own, sizes = asked[path.name[:2]], declared_sizes(path)
        assert all(own[name] >= size.small for name, size in sizes.items() if name != "QUERIES")


def test_own_queries_are_asked_instead_of_unseen_synonyms(starter_artifact, tmp_path):
    (tmp_path / "queries.tsv").write_text("query\tcodes\nHusten\tR05\nmir tut der ganze Tag weh\tR52.9\n")
    unseen = Lab.open(str(starter_artifact), data=str(tmp_path)).unseen
    assert [one.query for one in unseen.examples] == ["Husten", "mir tut der ganze Tag weh"]
    assert unseen.caution.startswith("Asked is queries; 1 of 2 queries stand in the index")


MEETS = """
from pathlib import Path
from time import monotonic, sleep
here = Path({folder!r})
(here / {name!r}).touch()
until = monotonic() + 60
while not (here / {other!r}).exists():
    assert monotonic() < until, "the other does not run"
    sleep(0.05)
"""


def test_two_run_at_once_and_one_that_fails_is_named(tmp_path):
    """The two meet: each waits for the other's file."""
    cells = {name: MEETS.format(folder=str(tmp_path), name=name, other=other) for name, other in ("ab", "ba")}
    for name, cell in {**cells, "broken": "[][1]"}.items():
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
        made.metadata = {
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python"},
        }
        nbformat.write(made, tmp_path / f"99_{name}.ipynb")
    assert notebooks.run(sorted(tmp_path.glob("*.ipynb")), tmp_path / "out", {}, at_once=2) == ["99_broken"]
    assert "IndexError" in (tmp_path / "out" / "99_broken.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no artifact is named"),
        (("--catalog", "nowhere"), "there is no finished artifact in nowhere"),
        (("--docs", "nowhere", "--only", "77"), "there is no notebook 77"),
        (("--docs", "nowhere", "--only", "00", "--out", "nowhere"), "there is no executed notebook in nowhere"),
    ],
)
def test_bad_input_is_said_in_a_sentence(arguments, said, capsys):
    assert notebooks.main(arguments) == 2
    shown = capsys.readouterr()
    assert (shown.out, said in shown.err) == ("", True)


def test_the_lab_answers_on_this_machine_only_and_wants_its_token(tmp_path):
    port = free_port()
    command = [Path(sys.executable).with_name("jupyter"), "lab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--ServerApp.port_retries=0", "--allow-root", "--config=notebooks/jupyter_lab_config.py"]
    environment = {**os.environ, "JUPYTER_TOKEN": "a-token", "JUPYTER_RUNTIME_DIR": str(tmp_path)}
    url = f"http://127.0.0.1:{port}"
    with running(command, lambda: _status(f"{url}/api") == 200, environment=environment, log=tmp_path / "log"):
        assert _status(f"{url}/api/contents/notebooks") == 403
        listed = httpx2.get(f"{url}/api/contents/notebooks", headers={"Authorization": "token a-token"}).json()
        assert "00_start.ipynb" in {entry["name"] for entry in listed["content"]}


def _status(url):
    try:
        return httpx2.get(url, verify=False).status_code
    except httpx2.TransportError:
        return None
