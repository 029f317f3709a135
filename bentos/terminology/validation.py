"""$validate-code: is this a code of the system or the value set, with this display, in this version?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import ImportMissing, Issue, Severity, invalid, outcome
from bentos.terminology.systems import NAMES, SYSTEM, Systems, Typed, Year, typed_code
from bentos.terminology.valuesets import Selected, ValueSets, not_allowed, versions_of
from clinical.icd import Code

MOST_CODINGS: Final = 50


class AskedCoding(NamedTuple):
    """A coding that is asked about; `place`: FHIRPath of it with a dot behind, "" for parameters of their own."""

    system: str | None
    version: str | None
    code: str
    display: str | None
    place: str = ""


class JudgedCoding(NamedTuple):
    """A coding with the code it means (None: none), the year it was looked up in, and what there is to say."""

    asked: AskedCoding
    year: Year | None
    code: Code | None
    valid: bool
    issues: tuple[Issue, ...]
    normalized: bool = False
    unknown: str = ""  # the system that is not known


class _Against(NamedTuple):
    """The value set asked about: its codes and its name; None where only the code system is."""

    selected: Selected
    name: str


def validate_code(systems: Systems, given: Inputs, value_set: bool = False) -> dict[str, Any]:
    """Parameters with `result`, the code's names, and `issues` (an OperationOutcome) where there is anything to say.

    Raises OperationRefused where the value set is not known or nothing is asked.
    """
    try:
        against = _against(systems, given) if value_set else None
    except ImportMissing as error:
        return _without_set(error)
    asked, concept = _asked(given, value_set)
    judged = [_judge(systems, given, each, against) for each in asked]
    return _answer(judged, concept, given, against)


def _without_set(error: ImportMissing) -> dict[str, Any]:
    rows = [
        {"name": "issues", "resource": outcome(error.issues)},
        {"name": "message", "valueString": "; ".join(issue.text for issue in error.issues)},
        {"name": "result", "valueBoolean": False},
    ]
    return {"resourceType": "Parameters", "parameter": rows}


def _against(systems: Systems, given: Inputs) -> _Against:
    resource, selected = ValueSets(systems, given).named(given)
    url, version = resource.get("url", ""), resource.get("version")
    return _Against(selected, f"{url}|{version}" if version else str(url))


def _asked(given: Inputs, value_set: bool) -> tuple[list[AskedCoding], Mapping[str, Any] | None]:
    """The codings, and the CodeableConcept they are of, if they are of one."""
    concept = given.object("codeableConcept")
    if concept is not None:
        codings = concept.get("coding")
        if not isinstance(codings, list) or not codings or len(codings) > MOST_CODINGS:
            raise invalid("a CodeableConcept without codings, or with too many", "codeableConcept", kind="required")
        return [_coding(each, f"CodeableConcept.coding[{at}].") for at, each in enumerate(codings)], concept
    coding = given.object("coding")
    if coding is not None:
        return [_coding(coding, "Coding.")], None
    code = given.text("code")
    if code is None:
        raise invalid("nothing is asked about: code, coding or codeableConcept", "code", kind="required")
    own = ("system", "systemVersion") if value_set else ("url", "version")
    system = given.text(own[0]) or given.text("system")
    if system is None and (not value_set or given.flag("inferSystem")):
        system = SYSTEM
    return [AskedCoding(system, given.text(own[1]) or given.text("systemVersion"), code, given.text("display"))], None


def _coding(given: Any, place: str) -> AskedCoding:
    values: list[Any] = [given.get(name) for name in AskedCoding._fields[:4]] if isinstance(given, dict) else [0]
    if not all(value is None or isinstance(value, str) for value in values):
        raise invalid("a coding whose parts are no texts", place.rstrip("."), kind="structure")
    system, version, code, display = values
    return AskedCoding(system, version, code or "", display, place)


def _judge(systems: Systems, given: Inputs, asked: AskedCoding, against: _Against | None) -> JudgedCoding:
    """One coding by itself."""
    shown = f"{asked.system or ''}{'|' + asked.version if asked.version else ''}#{asked.code}"
    if not asked.system:
        text = (
            "Coding has no system. A code with no system has no defined meaning, and it cannot be validated. A system "
            "should be provided"
        )
        place = asked.place.rstrip(".") or "code"
        said = Issue("warning", "invalid", "invalid-data", text, place, "Coding_has_no_system__cannot_validate")
        return JudgedCoding(asked, None, None, False, (said, *_not_in(against, asked, shown)))
    if asked.system not in NAMES:
        text = f"A definition for CodeSystem '{asked.system}' could not be found, so the code cannot be validated"
        said = Issue("error", "not-found", "not-found", text, f"{asked.place}system", "UNKNOWN_CODESYSTEM")
        return JudgedCoding(asked, None, None, False, (said, *_not_in(against, asked, shown)), unknown=asked.system)
    issues: list[Issue] = []
    year, unknown = _year(systems, given, asked, against, issues)
    typed = typed_code(year, asked.code)
    if typed.code is None:
        issues += (*_not_in(against, asked, shown), _no_code(systems, year, asked))
        return JudgedCoding(asked, year, None, False, tuple(issues), unknown=unknown)
    issues += _written(typed, asked, year)
    inside = against is None or _holds(against, year, typed.code)
    if not inside:
        issues += _not_in(against, asked, shown)
    issues += _display(year, typed.code, asked, against, given)
    issues += _use(typed.code, asked)
    valid = not any(each.severity == "error" for each in issues)
    return JudgedCoding(asked, year, typed.code, valid, tuple(issues), typed.way != "exact", unknown)


def _year(
    systems: Systems, given: Inputs, asked: AskedCoding, against: _Against | None, issues: list[Issue]
) -> tuple[Year, str]:
    """The year to look in, and the version that is not known; what is wrong with the version is added to `issues`."""
    of_set = [version for version in against.selected.codes if version] if against else []
    default = versions_of(given, "system-version").get(SYSTEM)
    year = systems.version(asked.version or default)
    unknown = ""
    if year is None:
        unknown = f"{asked.system}|{asked.version or default}"
        text = (
            f"A definition for CodeSystem '{asked.system}' version '{asked.version or default}' could not be found, so "
            f"the code cannot be validated. Valid versions: {systems.versions}"
        )
        place = f"{asked.place}system"
        issues.append(Issue("error", "not-found", "not-found", text, place, "UNKNOWN_CODESYSTEM_VERSION"))
        year = systems.newest
    if of_set and year.version not in of_set:
        used = systems.years[of_set[0]]
        if asked.version:
            text = (
                f"The code system '{SYSTEM}' version '{used.version}' in the ValueSet include is different to the one "
                f"in the value ('{asked.version}')"
            )
            issues.append(
                Issue("error", "invalid", "vs-invalid", text, f"{asked.place}version", "VALUESET_VALUE_MISMATCH")
            )
        year = used
    if text := not_allowed(given, year.version):
        place = f"{asked.place}version"
        issues.append(Issue("error", "exception", "version-error", text, place, "VALUESET_VERSION_CHECK"))
    return year, unknown


def _holds(against: _Against, year: Year, code: Code) -> bool:
    mask = against.selected.codes.get(year.version)
    return mask is not None and bool(mask[year.catalog.number(code.code)])


def _not_in(against: _Against | None, asked: AskedCoding, shown: str) -> list[Issue]:
    """The code is not in the value set; in a CodeableConcept that is said of each coding as information."""
    if against is None:
        return []
    text = f"The provided code '{shown}' was not found in the value set '{against.name}'"
    ident, place = "None_of_the_provided_codes_are_in_the_value_set_one", f"{asked.place}code"
    if asked.place.startswith("CodeableConcept"):
        return [Issue("information", "code-invalid", "this-code-not-in-vs", text, place, ident)]
    return [Issue("error", "code-invalid", "not-in-vs", text, place, ident)]


def _no_code(systems: Systems, year: Year, asked: AskedCoding) -> Issue:
    text = f"Unknown code '{asked.code}' in the CodeSystem '{asked.system}' version '{year.version}'"
    if elsewhere := systems.others_with(asked.code, year):
        text += f". Der Kode gehört zu ICD-10-GM {' und '.join(elsewhere)}"
    elif (near := year.catalog.parse(asked.code)) is not None and (known := year.catalog.nearest_existing(near)):
        text += f". Am nächsten liegt {known.code} ({known.title})"
    return Issue("error", "code-invalid", "invalid-code", text, f"{asked.place}code", "Unknown_Code_in_Version")


def _written(typed: Typed, asked: AskedCoding, year: Year) -> list[Issue]:
    """A code in another case, or with marks that are no part of it."""
    assert typed.code is not None  # noqa: S101 - asked by those who found it
    place, right = f"{asked.place}code", typed.code.code
    if typed.way == "case":
        text = (
            f"The code '{asked.code}' differs from the correct code '{right}' by case. Although the code system "
            f"'{SYSTEM}|{year.version}' is case insensitive, implementers are strongly encouraged to use the correct "
            "case anyway"
        )
        return [Issue("information", "business-rule", "code-rule", text, place, "CODE_CASE_DIFFERENCE")]
    if typed.wrong_mark:
        text = f"Das Kennzeichen in '{asked.code}' ist nicht das des Kodes: {typed.code.marked}"
        return [Issue("warning", "business-rule", "code-rule", text, place)]
    if typed.way == "marked":
        text = f"'{asked.code}' ist der Kode {right} mit Kennzeichen; in FHIR stehen sie in Extensions, nicht im Kode"
        return [Issue("information", "business-rule", "code-rule", text, place)]
    return []


def _display(year: Year, code: Code, asked: AskedCoding, against: _Against | None, given: Inputs) -> list[Issue]:
    """A display that is none of the code's wordings: a warning, an error where leniency is refused."""
    if not asked.display or asked.display == code.title:
        return []
    own = against.selected.displays.get((year.version, code.code)) if against else None
    known = {_folded(each.value) for each in year.designations(code)} | {_folded(code.title), _folded(own or "")}
    if _folded(asked.display) in known:
        return []
    text = f"Wrong Display Name '{asked.display}' for {SYSTEM}#{code.code}. Valid display is '{own or code.title}'"
    severity: Severity = "error" if given.flag("lenient-display-validation") is False else "warning"
    ident = "Display_Name_for__should_be_one_of__instead_of"
    return [Issue(severity, "invalid", "invalid-display", text, f"{asked.place}display", ident)]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _use(code: Code, asked: AskedCoding) -> list[Issue]:
    """Rules of coding: terminal codes only; some never alone."""
    place = f"{asked.place}code"
    if not code.terminal:
        text = f"{code.code} ist nicht endständig und nicht zur Verschlüsselung zugelassen: es gibt genauere Kodes"
        return [Issue("warning", "business-rule", "code-comment", text, place)]
    if code.never_alone:
        text = f"{code.marked} darf nicht allein stehen, nur zusätzlich zu einem primären Kode"
        return [Issue("information", "business-rule", "code-comment", text, place)]
    return []


def _answer(
    judged: list[JudgedCoding], concept: Mapping[str, Any] | None, given: Inputs, against: _Against | None
) -> dict[str, Any]:
    """The Parameters: one valid coding is enough, as long as none is wrong."""
    best = next((each for each in judged if each.valid and _is_in(each, against)), None)
    issues = [issue for each in judged for issue in each.issues]
    result = best is not None and not any(issue.severity == "error" for issue in issues)
    if concept is not None and against is not None and not any(_is_in(each, against) for each in judged):
        text = f"No valid coding was found for the value set '{against.name}'"
        issues.insert(0, Issue("error", "code-invalid", "not-in-vs", text, ident="TX_GENERAL_CC_ERROR_MESSAGE"))
    if concept is not None and result:
        issues = _without_partners(judged, issues)
    shown = best or next((each for each in judged if each.code is not None), judged[0])
    rows: list[tuple[str, str, Any]] = [("result", "valueBoolean", result)]
    if concept is None or shown.code is not None:
        rows += _told(shown, against)
    if concept is not None:
        rows.append(("codeableConcept", "valueCodeableConcept", concept))
    for each in judged:
        if each.unknown:
            name = "x-caused-by-unknown-system" if "|" in each.unknown else "x-unknown-system"
            rows.append((name, "valueCanonical", each.unknown))
    for severity in ("error", "warning"):
        if said := [issue.text for issue in issues if issue.severity == severity]:
            rows.append(("message", "valueString", "; ".join(said)))
            break
    if issues:
        rows.append(("issues", "resource", outcome(issues)))
    parameter = [{"name": name, kind: value} for name, kind, value in sorted(rows, key=lambda row: row[0])]
    return {"resourceType": "Parameters", "parameter": parameter}


def _told(shown: JudgedCoding, against: _Against | None) -> list[tuple[str, str, Any]]:
    """System, version, code and display of the coding that the answer is of."""
    rows: list[tuple[str, str, Any]] = [("code", "valueCode", shown.asked.code)]
    if shown.asked.system:
        rows.append(("system", "valueUri", shown.asked.system))
    if shown.year is None:
        return rows
    rows.append(("version", "valueString", shown.year.version))
    if shown.code is not None:
        own = against.selected.displays.get((shown.year.version, shown.code.code)) if against else None
        rows.append(("display", "valueString", own or shown.code.title))
        if shown.normalized:
            rows.append(("normalized-code", "valueCode", shown.code.code))
    return rows


def _is_in(judged: JudgedCoding, against: _Against | None) -> bool:
    if against is None:
        return True
    return judged.year is not None and judged.code is not None and _holds(against, judged.year, judged.code)


def _without_partners(judged: list[JudgedCoding], issues: list[Issue]) -> list[Issue]:
    """Leave out "never alone" where a primary code stands beside it."""
    primary = any(each.code is not None and not each.code.never_alone for each in judged)
    return [each for each in issues if not (primary and each.detail == "code-comment" and "allein" in each.text)]
