"""The conditions hold on good tables, stop the build on bad ones, and both runners agree."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from catalog_build.checks import CONDITIONS, check, counts, previous_counts, quality_installed
from catalog_build.official.source import Source, Synonym, read_source
from catalog_build.synonyms import all_texts
from clinical.errors import ArtifactMismatch, ArtifactMissing, CheckFailed
from clinical.icd import Catalog
from tests.catalog_build.official_files import folder, release

NO_QUALITY = "Great Expectations (extra 'checks') is not installed"
WITH_QUALITY = pytest.mark.skipif(not quality_installed(), reason=NO_QUALITY)
ENGINES = ["plain", pytest.param("great_expectations", marks=WITH_QUALITY)]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return read_source(folder(tmp_path / "source", release()))


def with_code(source: Source, spelling: str, **changed: object) -> Source:
    codes = [replace(code, **changed) if code.code == spelling else code for code in source.catalog]
    return replace(source, catalog=Catalog("2026", codes, source.catalog.chapters, source.catalog.blocks))


@pytest.mark.parametrize("engine", ENGINES)
def test_good_tables_pass_every_condition(source: Source, engine) -> None:
    report = check(source, all_texts(source), previous=counts(source), engine=engine)
    assert [result.name for result in report.results] == [condition.name for condition in CONDITIONS]
    assert all(result.holds and result.examined for result in report.results)
    assert report.engine == engine
    assert orjson.loads(orjson.dumps(report))["results"][0]["name"] == "code-pattern"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("condition", "spelling", "changed"),
    [
        ("code-pattern", "E11.8", {"code": "E118"}),
        ("code-unique", "E11.91", {"code": "E11.90"}),
        ("title-present", "E11.91", {"title": ""}),
        ("parent-exists", "E11.91", {"parent": "E11.7"}),
        ("terminal-fits", "E11.8", {"terminal": False}),
        ("terminal-usable", "E11.8", {"use_295": "V", "use_301": "V"}),
    ],
)
def test_a_bad_code_stops_the_build(source: Source, engine, condition: str, spelling: str, changed: dict) -> None:
    bad = with_code(source, spelling, **changed)
    with pytest.raises(CheckFailed) as caught:
        check(bad, (), engine=engine)
    assert condition in str(caught.value)
    assert changed.get("code", spelling) in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "synonym",
    [
        Synonym("Fremdling", "E99.9"),
        Synonym("Fremdling", "E11"),  # not terminal
        Synonym("Fremdling", "E11.90", ("G99",)),
    ],
)
def test_a_synonym_of_no_living_code_stops_the_build(source: Source, engine, synonym: Synonym) -> None:
    with pytest.raises(CheckFailed, match=r"synonym-lives fails for 1 of \d+: Fremdling"):
        check(source, (*all_texts(source), synonym), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wording_under_two_codes_is_reported_but_stops_nothing(source: Source, engine) -> None:
    texts = (*all_texts(source), Synonym("Doppelt", "E11.90"), Synonym("Doppelt", "E11.91"))
    result = {result.name: result for result in check(source, texts, engine=engine).results}["one-code"]
    assert (result.holds, result.fatal, result.against, set(result.examples)) == (False, False, 2, {"Doppelt"})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("before", "stops"), [(1.0, False), (1.019, False), (1.03, True), (0.97, True), (0, True)])
def test_counts_far_from_the_artifact_before_stop_the_build(source: Source, engine, before: float, stops: bool) -> None:
    previous = {name: round(1_000 * before) for name in counts(source)}
    many = replace(source, synonyms=source.synonyms[:1] * 1_000)
    previous = {"synonyms": previous["synonyms"]}
    if stops:
        with pytest.raises(CheckFailed, match="counts-stable fails for 1 of 1: synonyms"):
            check(many, all_texts(source), previous=previous, engine=engine)
    else:
        assert check(many, all_texts(source), previous=previous, engine=engine).results[-1].holds


def test_all_failing_conditions_are_named(source: Source) -> None:
    bad = with_code(source, "E11.8", title="", use_295="V", use_301="V")
    with pytest.raises(CheckFailed, match=r"title-present fails for 1 of 8: E11\.8 \(and terminal-usable fails too\)"):
        check(bad, (), engine="plain")


def test_data_docs_are_written_also_for_a_failed_check(source: Source, tmp_path: Path) -> None:
    if not quality_installed():
        pytest.skip(NO_QUALITY)
    assert check(source, all_texts(source), docs=tmp_path / "good").docs
    assert "icd10gm-codes" in (tmp_path / "good" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(CheckFailed):
        check(with_code(source, "E11.8", title=""), (), docs=tmp_path / "bad")
    assert (tmp_path / "bad" / "index.html").exists()


def test_counts_of_an_artifact_are_read_from_its_manifest(tmp_path: Path) -> None:
    with pytest.raises(ArtifactMissing, match=r"manifest\.json"):
        previous_counts(tmp_path)
    (tmp_path / "manifest.json").write_bytes(orjson.dumps({"codes": 8, "terminal_codes": 5, "synonyms": 7, "x": []}))
    assert previous_counts(tmp_path) == {"codes": 8, "terminal_codes": 5, "synonyms": 7}
    for broken in (b"{}", b"[]", b"{", b'{"codes": "x", "terminal_codes": 1, "synonyms": 1}'):
        (tmp_path / "manifest.json").write_bytes(broken)
        with pytest.raises(ArtifactMismatch):
            previous_counts(tmp_path)
