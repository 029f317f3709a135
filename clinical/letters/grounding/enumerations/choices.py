"""Values of fixed lists need an explicit word in the text: the table `enumerations.tsv`, and what voids a phrase.

Implications do not count ("Privatklinik" is not `privat`, a wish for an appointment not `dringlich`), nor does a phrase
that is denied, conditional, an empty box, one of several choices of a form, or about someone or something else
(`circumstances`). A letter names one value of a list: what is ticked or labelled goes before what is said, what is said
before what is hinted at, and of two the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from clinical.letters.grounding.enumerations.boxes import State, label_before, state_of
from clinical.letters.grounding.enumerations.circumstances import Circumstances, says
from clinical.letters.grounding.enumerations.phrases import Phrase, choices, matches, phrases, values
from clinical.letters.grounding.literal import TokenMatch
from clinical.text import COLON, COMMA, SALUTATIONS, STOP, TITLES, SourceText

DENIED_WITHIN: Final = 3
"""Tokens before a phrase in which `kein`, `nicht`, `ohne` or `statt` denies it, and behind it `nein` or `nicht`."""

PLACES: Final = 100
"""Places of one list's phrases in a text that are judged, each by the sentence and row around it: 20,000 characters of
letters have up to 34. In a text with more, the list is no evidence for any of its values."""

TICKED, LABELLED, SAID, HINTED = range(4)
"""Ways in which a place names a value, strongest evidence first."""

_LABELS_OF_ROW: Final = {"versicherung.klasse": re.compile(
                             r"klasse|versicher|kasse|garant|abteilung|\bkk\b|kategorie|deckung|unterbringung", re.I),
                         "kostengutsprache": re.compile(r"kosten|kogu|\bkgs\b|bewilligung|genehmigung", re.I),
                         "patient.geschlecht": re.compile("")}  # fmt: skip
_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "versicherung.klasse": {"allgemein": ("allgemein", "allgemeine"), "halbprivat": ("halbprivat", "halbprivate"),
                            "privat": ("privat", "private")},
    "kostengutsprache": {"liegt_vor": ("liegt", "vorhanden", "erteilt", "vorliegend"), "beantragt": ("beantragt",),
                         "wird_eingeholt": ("eingeholt", "einholung")},
    "patient.geschlecht": {"m": ("herr", "mann"), "w": ("frau",)},
}  # fmt: skip
"""Options that a form offers in a row whose label names the list; such a word alone is no evidence."""


def find_choice(letter: Circumstances, field: str, value: str) -> TokenMatch | None:
    """The place where the text names the value explicitly, or None; also where it rather names another of the list."""
    best = _best(letter, field)
    return TokenMatch(best[1], best[2], whole=True) if best and best[3] == value else None


def named_choice(letter: Circumstances, field: str) -> str | None:
    """The value of the list that the text names explicitly, or None."""
    best = _best(letter, field)
    return best[3] if best else None


def _best(letter: Circumstances, field: str) -> tuple[int, int, int, str] | None:
    if field not in letter.named:
        letter.named[field] = next(_places(letter, field), None)
    return letter.named[field]


def is_denied_choice(letter: Circumstances, field: str) -> bool:
    """True if the text denies a value of the list ("Kein Notfall")."""
    known = (phrase for value in values(field) for phrase in phrases(field, value) if phrase.role == "says")
    places = (place for phrase in known for place in matches(letter.places, phrase))
    return any(_is_denied(letter.source, place[0], place[-1]) for place in places)


def _places(letter: Circumstances, field: str) -> Iterator[tuple[int, int, int, str]]:
    """(strength, first token, last token, value) of every place that counts, strongest first; none where the text has
    too many. Whether a place counts is asked in that order, so that who takes the first pays for no other."""
    source = letter.source
    found = {value: [(phrase, list(matches(letter.places, phrase))) for phrase in phrases(field, value)]
             for value in values(field)}  # fmt: skip
    options = [source.word_places.get(word, ()) for words in _OPTIONS.get(field, {}).values() for word in words]
    known = {place for pairs in found.values() for _, places in pairs for place in places}
    if max(len(known), sum(map(len, options))) > PLACES:
        return
    states = {place: state_of(source, place) for place in known}
    counts: dict[range, bool] = {}
    for strength, first, last, value, is_option in sorted(_named(source, field, found, states)):
        place = range(first, last + 1)
        if not is_option and place not in counts:
            counts[place] = _counts(letter, field, place, states[place])
        if is_option or counts[place]:
            yield strength, first, last, value


Found = Mapping[str, list[tuple[Phrase, list[range]]]]
"""Every place of every phrase, by value."""


def _named(
    source: SourceText, field: str, found: Found, states: Mapping[range, State | None]
) -> Iterator[tuple[int, int, int, str, bool]]:
    """As `_places`, in no order, of all places that no phrase voids and whose box is not empty; with whether it is the
    ticked option of the list's own row, of which nothing else is asked."""
    for value, pairs in found.items():
        voided = {i for phrase, places in pairs if phrase.role == "not" for place in places for i in place}
        for place in _ticked(source, field, value):
            yield TICKED, place[0], place[-1], value, True
        for phrase, place in ((one, place) for one, places in pairs if one.role != "not" for place in places):
            state = states[place]
            if state == "ticked" or (state is None and not voided & set(place)):
                yield _strength(source, phrase.role, place, state), place[0], place[-1], value, False


def _counts(letter: Circumstances, field: str, place: range, state: State | None) -> bool:
    """True if a phrase at this place is neither denied nor about something else, whichever value it names."""
    if _is_refused(letter.source, place):
        return False
    return state is not None or not (_is_void(letter.source, field, place) or letter.void(field, place))


def _strength(source: SourceText, role: str, place: range, state: State | None) -> int:
    if state == "ticked":
        return TICKED
    if role == "hints":
        return HINTED
    labelled = any(":" in source.glue(i) or "\t" in source.glue(i) for i in place[1:]) or (
        source.gap(place[0]) == COLON or "\t" in source.glue(place[0])
    )
    return LABELLED if labelled else SAID


def _ticked(source: SourceText, field: str, value: str) -> Iterator[range]:
    """Find the ticked option of a row whose label names the list: `Versicherungsklasse [ ] allgemein [x] privat`."""
    for word in _OPTIONS.get(field, {}).get(value, ()):
        for i in source.word_places.get(word, ()):
            if state_of(source, range(i, i + 1)) == "ticked" and _LABELS_OF_ROW[field].search(
                label_before(source, range(i, i + 1))
            ):
                yield range(i, i + 1)


def _is_refused(source: SourceText, place: range) -> bool:
    inner = any(says(group, source.words[i]) for group in ("@unsettled", "@denying") for i in place[1:-1])
    return inner or _is_denied(source, place[0], place[-1])


def _is_void(source: SourceText, field: str, place: range) -> bool:
    first, last = place[0], place[-1]
    if _is_choice(source, field, place):
        return True
    ends = (last, last + 1) if field == "aufenthalt.art" or field == "dringlichkeit" else (last,)
    if any(source.text[source.end[i] : source.end[i] + 2].lstrip()[:1] == "?" for i in ends if i < len(source)):
        return True
    return field != "patient.geschlecht" and _is_conditional(source, first)


def _is_denied(source: SourceText, first: int, last: int) -> bool:
    for k in range(first - 1, max(-1, first - 1 - DENIED_WITHIN), -1):
        if source.gap(k + 1) >= COMMA:
            break
        if says("@denying", source.words[k]):
            return True
    for k in range(last + 1, min(len(source), last + 1 + DENIED_WITHIN)):
        gap = source.gap(k)
        if gap >= STOP or (gap == COMMA and k > last + 1) or source.ends_before(k):
            return False
        if says("@denied_behind", source.words[k]):
            # `stationär, nicht ambulant` and `Notfall: nein` differ in the mark between them
            return gap != COMMA or source.words[k] != "nicht"
        if gap == COMMA:
            return False  # another noun: `ist beantragt, Antwort ausstehend`
    return False


def _is_conditional(source: SourceText, first: int) -> bool:
    for k in range(first - 1, max(-1, first - 5), -1):
        if source.gap(k + 1) >= COLON:
            return False
        until_a_day = source.words[k] == "bis" and any(map(_is_day, source.words[k + 1 : k + 3]))
        if says("@conditional", source.words[k]) and not until_a_day:
            return True
    return False


def _is_day(word: str) -> bool:
    return word[0] == "#" or word == "heute"


def _is_choice(source: SourceText, field: str, place: range) -> bool:
    """`m/w`, `Notfall / dringlich / elektiv`: a form's choices side by side say nothing."""
    for i, neighbour in ((place[-1] + 1, place[-1] + 1), (place[-1], place[-1] - 1), (place[0], place[0] - 1)):
        label = neighbour == place[0] and len(place) > 1
        if 0 < i < len(source) and 0 <= neighbour < len(source) and not (label and "|" in source.glue(i)):
            offered = source.words[neighbour] in choices(field) or source.words[neighbour] == "in"
            if offered and re.fullmatch(r"\s*[/|*]\s*|\(", source.glue(i)):
                return True
    return any(_is_alternative(source, field, i) for i in (place[0] - 1, place[-1] + 1))


def _is_alternative(source: SourceText, field: str, i: int) -> bool:
    """True if the word stands between two choices: `ambulant oder stationär?`."""
    if not 0 < i < len(source) - 1 or source.words[i] not in ("oder", "bzw", "versus", "vs"):
        return False
    stems = tuple(word[:6] for word in choices(field) if len(word) > 5)
    return all(source.words[k].startswith(stems) for k in (i - 1, i + 1))


_BORN = re.compile(r"[\s,]*(?:(\(?\*|geb\b|geboren|jg\b|jahrgang)|\(|\d{1,2}\.\s?\d{1,2}\.)", re.IGNORECASE)
"""The text behind the name of somebody born; a bracket or a day alone may stand behind any doctor's."""
_GREETING = re.compile(r"(?:geehrt|verehrt|lieb|wert|geschaetzt)er?$")
_SALUTATION = {"m": frozenset(("herr", "herrn", "hr", "hrn")), "w": frozenset(("frau", "fr"))}
NAME_REACH = 8
"""Tokens behind a salutation in which the patient's name must stand: titles and first names between."""


def find_salutation(source: SourceText, value: str, surnames: tuple[str, ...]) -> TokenMatch | None:
    """`Herr`/`Frau` of the patient: before the patient's own name, or before a name with a birth date behind it."""
    named = [found for name in surnames if name and (found := SourceText(name)).words]
    for i in sorted(i for word in _SALUTATION[value] for i in source.word_places.get(word, ())):
        if i and _GREETING.match(source.words[i - 1]) and source.words[i + 1 : i + 2] and source.words[i + 1] in TITLES:
            continue  # the doctor who is written to may have the patient's name
        behind = range(i + 1, min(len(source), i + 1 + NAME_REACH))
        for k in behind:
            if (
                source.gap(k) >= STOP
                and source.words[k - 1] not in TITLES
                and source.words[k - 1] not in ("hr", "fr", "hrn")
            ):
                break
            if source.words[k] in SALUTATIONS or source.words[k] in ("kollege", "kollegin", "kollegen"):
                break
            if any(_is_name(source, k, name) for name in named) and _is_own(source, i, k):
                return TokenMatch(i, k, whole=True)
            born = _BORN.match(source.view, source.end[k - 1]) if k > i + 1 else None
            if born and not _is_doctor(source, i, k) and (born[1] or TITLES.isdisjoint(source.words[i + 1 : k])):
                return TokenMatch(i, k - 1, whole=True)
    return None


def _is_name(source: SourceText, k: int, name: SourceText) -> bool:
    """True if a name begins at token `k`."""
    return k + len(name) <= len(source) and all(source.name(k + n) == name.name(n) for n in range(len(name)))


def _is_own(source: SourceText, salutation: int, name: int) -> bool:
    """Between salutation and name only titles and words with capitals (first names)."""
    between = range(salutation + 1, name)
    return all(source.words[j] in TITLES or source.view[source.start[j]].isupper() for j in between)


def _is_doctor(source: SourceText, first: int, last: int) -> bool:
    return not all(source.view[source.start[j]].isupper() or source.words[j] in TITLES for j in range(first + 1, last))


def named_sex(letter: Circumstances, surname: str | None) -> str | None:
    """The patient's sex that the text states, or None."""
    surnames = (surname,) if surname else ()
    return next((one for one in values("patient.geschlecht") if sex_of(letter, one, surnames)), None)


def sex_of(letter: Circumstances, value: str, surnames: tuple[str, ...]) -> TokenMatch | None:
    """The place that states the patient's sex, by the table or by the salutation, which goes before `der Patient`:
    letters also say that of women."""
    source = letter.source
    places = list(islice(_places(letter, "patient.geschlecht"), 1))
    for one in values("patient.geschlecht"):
        found = find_salutation(source, one, surnames)
        if found is not None:
            places.append((SAID, found.first, found.last, one))
    best = min(places, default=None)
    return TokenMatch(best[1], best[2], whole=True) if best and best[3] == value else None
