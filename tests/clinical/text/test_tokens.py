"""Keys of tokens, their places and pieces, words cut off or from the other language, and the days of a text."""

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.claims import Reading
from clinical.reading.lattice import borders
from clinical.text import BLANKS, WORD_EDGE, find_pieces, lowered
from clinical.text.abbreviations import is_abbreviation
from clinical.text.dates import dates_of, days_in
from clinical.text.folding import fold, spelling
from clinical.text.looked import SOME, LookedFor
from clinical.text.morphemes import MOST, same_meaning, table, translated
from clinical.text.pieces import MOST_STEPS
from clinical.text.tokens import SourceText
from evals.letters.generator import letters

TEXTS = [letter.text for letter in letters(12, 5)]
KEYED = "Gonarthrose re. Grad III, Re-Staging, 5 g, 1 Tag, Knie R, Typ A, z. n. OP, 2.5 mg tgl., Stadium IV, a) b)"


@pytest.mark.parametrize("text", [*TEXTS, KEYED])
def test_the_places_of_a_key_are_the_tokens_that_have_it(text: str) -> None:
    source = SourceText(text)
    keys = [source.key(i) for i in range(len(source))]
    assert {key: source.places(key) for key in keys} == {
        key: [i for i, one in enumerate(keys) if one == key] for key in keys
    }
    assert source.places("nirgends") == source.places("§nowhere") == source.places("#99999") == []


def test_what_is_asked_of_one_token_alone_is_what_all_were_told() -> None:
    one, whole = SourceText(KEYED), SourceText(KEYED)
    every = {key: whole.places(key) for key in map(whole.key, range(len(whole)))}
    assert all(i in every[one.key(i)] for i in reversed(range(len(one))))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("10. Juni 2024", ["2024-06-10"]),
        ("am 3.Mai 24", ["2024-05-03"]),
        ("123. Mai 2024", []),
        ("10. Juni 24 Mai 2025", ["2024-06-10"]),
        ("1. 2. Mai 2024", ["2024-05-02"]),
        ("5 mg, 12 Dez. 2023; 7 IX. 2022", ["2023-12-12", "2022-09-07"]),
        ("2024-03-12 und 20240313, 13032024", ["2024-03-12", "2024-03-13", "2024-03-13"]),
        ("1234-5678 123456789", []),
        ("10. Septem-\nber 2021", ["2021-09-10"]),
    ],
)
def test_days_are_read_where_they_begin(text: str, days: list[str]) -> None:
    assert [one.iso() for one in dates_of(text)] == days


PIECES_OF_DAYS = [
    "1",
    "12",
    "03",
    "24",
    "2024",
    ".",
    ". ",
    "-",
    " - ",
    "/",
    " ",
    "\n",
    "Mai ",
    "Septem-\nber",
    "bis ",
    "(",
]


@given(st.lists(st.sampled_from(PIECES_OF_DAYS), max_size=14).map("".join))
def test_days_are_found_in_the_order_of_the_text(text: str) -> None:
    starts = [one.start for one in days_in(text)]
    assert starts == sorted(starts)


def test_what_is_looked_for_is_taken_once_and_hardly_further_than_somebody_asks() -> None:
    taken: list[int] = []
    every = [*range(5 * SOME)]
    items = LookedFor(taken.append(n) or n for n in every)
    assert next(iter(items)) == 0
    assert len(taken) == SOME
    assert next(items.behind(3 * SOME)) == 3 * SOME
    assert [*zip(items, items.behind(1), strict=False)] == [*pairwise(every)]
    assert [*items] == taken == every
    assert [*items.behind(len(every))] == []


MARKS = re.compile(r"[\s./-]{0,3}")


def drawn(chance: random.Random, characters: str, most: int) -> str:
    return "".join(chance.choice(characters) for _ in range(chance.randint(1, most)))


@pytest.mark.parametrize("gap", [BLANKS, MARKS, re.compile("")])
@pytest.mark.parametrize("edge", [WORD_EDGE, re.compile(""), re.compile(r"(?<!\d[-.])"), re.compile(r"(?!\d)")])
def test_the_first_place_is_that_of_a_pattern(gap: re.Pattern[str], edge: re.Pattern[str]):
    chance, found = random.Random(7), 0
    for _ in range(3_000):
        pieces = [drawn(chance, "aAbß1", 2) for _ in range(chance.randint(1, 3))]
        text = drawn(chance, "aAbBßẞ1 .-\n", 24)
        wanted = edge.pattern + gap.pattern.join(map(re.escape, pieces)) + edge.pattern
        match = re.search(wanted, text, re.IGNORECASE)
        place = find_pieces(lowered(text), [lowered(one) for one in pieces], gap, before=edge, behind=edge)
        assert place == (match and match.span()), (text, pieces)
        found += place is not None
    assert found > 100


@pytest.mark.parametrize("one", list("aÄßẞİIıſSsKÅΣςσµμ1@-"))
@pytest.mark.parametrize("other", list("aÄßẞİIıſSsKÅΣςσµμ1@-"))
def test_characters_are_the_same_where_a_pattern_takes_them_for_that(one: str, other: str):
    same = re.fullmatch(re.escape(one), other, re.IGNORECASE) is not None
    assert (lowered(one) == lowered(other)) == same
    assert len(lowered(f"{one}ΑΣ {other}")) == 5


def test_a_text_made_to_be_slow_is_left():
    slow, pieces = "a " * MOST_STEPS, ["a"] * 100
    assert find_pieces(slow + "a b", [*pieces, "b"], BLANKS) is None
    assert find_pieces("a " * 300 + "a b", [*pieces, "b"], BLANKS) == (402, 603)


CUT_OFF = [
    "chron. Pankreatitis",
    "dekomp. HI",
    "rezid. TIA",
    "fragl. KM-Allergie",
    "Diab. mell. Typ 2",
    "Hypertens. Herzkrankh. Stadium 3",
    "Chron. obstr. Lungenerkr. Grad 2",
    "Niereninsuff. Stadium 3",
    "hochgr. Aortenstenose",
    "echokardiogr. EF 55 %",
    "Z. n. Apoplex",
    "bzgl. Ramipril",
]
SENTENCES = ["Kein Fieber. Husten", "Der Befund ist normal. Hypertonie", "Schmerzen im Arm. Fraktur", "HWS. Fraktur"]


@pytest.mark.parametrize("text", CUT_OFF)
def test_a_word_that_is_cut_off_ends_no_clause(text):
    assert len(Reading.of(text).clauses) == 1
    assert borders(text) == []


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_ends_at_its_full_stop(text):
    assert len(Reading.of(text).clauses) == 2


WHOLE = """vor dar konkret Helm Kerl Wahl Stoff Darm Film Turm Husten Kinn davon Puls Zahl Stuhl Fell Schmerz Kropf
    Kopf Magen Asthma Lipom Plasma Karzinom Diabetes Fraktur normal unauffällig bekannt behandelt BWS COPD mmHg"""


@pytest.mark.parametrize("word", WHOLE.split())
def test_a_whole_word_is_no_abbreviation(word):
    assert not is_abbreviation(spelling(word), word)


def test_denial_reaches_over_the_full_stop_of_an_abbreviation():
    text = "Kein Anhalt für dekomp. HI"
    assert Reading.of(text).ruled(text.index("HI"), len(text)).is_denied


def known(*words: str) -> set[str]:
    return {fold(word) for word in words}


@pytest.mark.parametrize(
    ("unknown", "word"),
    [
        ("Eichelentzündung", "Balanitis"),
        ("Leberentzündung", "Hepatitis"),
        ("Hirnhautentzündung", "Meningitis"),
        ("Nierensteine", "Nephrolithiasis"),
        ("Magenkatarrh", "Gastritis"),
        ("Augenlidkrampf", "Blepharospasmus"),
        ("Cholangitis", "Gallengangsentzündung"),
        ("Pulmonalarterienembolie", "Lungenarterienembolie"),
        ("Beckenbruch", "Beckenfraktur"),
        ("renis", "Niere"),
        ("costae", "Rippe"),
    ],
)
def test_an_unknown_word_in_the_other_language(unknown, word):
    assert translated(unknown, known(word)) == [fold(word)]


def test_only_unknown_words_change_and_the_rest_stays_as_it_is():
    words = known("chronische", "Leberentzündung", "Hepatitis", "links")
    assert translated("Chronische Leberentzündung, links", words) == []
    assert translated("Chronische Magenentzündung, links", words | known("Gastritis")) == [
        f"Chronische {fold('Gastritis')}, links"
    ]


def test_words_that_no_wording_has_are_not_made():
    assert translated("Eichelentzündung", known("Husten")) == []
    assert translated("", set()) == []
    assert translated("12 🙂 ...", known("Husten")) == []


def test_several_meanings_are_tried_in_turn():
    found = translated("Kornealuxation", known("Hornhautluxation", "Hornhautverrenkung", "Korneadislokation"))
    assert len(found) == MOST
    assert set(found) <= known("Hornhautluxation", "Hornhautverrenkung", "Korneadislokation")


@given(st.text(max_size=40), st.lists(st.sampled_from(["Hepatitis", "Balanitis", "Rippe", "Niere"]), max_size=4))
def test_any_text_gives_at_most_that_many_and_never_itself(text, words):
    found = translated(text, known(*words))
    assert len(found) <= MOST
    assert text not in found


def test_the_table_is_well_formed():
    parts = table()
    assert min(map(len, (parts.beginnings, parts.endings, parts.words))) > 50
    for groups in parts:
        for form, others in groups.items():
            assert form.isalpha() or form.replace(" ", "").isalpha(), form
            assert others, f"{form} stands alone"
            assert form not in others
            assert all(form in groups[other] for other in others), form


def test_a_lay_word_finds_what_the_catalog_calls_by_another_name(index):
    unknown = "Hirnhautkatarrh"
    assert fold(unknown) not in index.wordings.vocabulary
    assert any(word in index.wordings.vocabulary for word in same_meaning(fold(unknown)))
    assert index.search(unknown, 3)[0].code.startswith(("G0", "A8", "A39"))
