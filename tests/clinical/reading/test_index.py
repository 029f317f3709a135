"""The search on the starter catalog: everyday words, odd input, long texts, threads, titles, who reads claims."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.claims import Claim, ClaimReader, Reading, claims_by_triggers
from clinical.icd import Catalog
from clinical.reading.general import compared
from clinical.reading.index import Candidate, SearchIndex
from clinical.reading.rewriting import Spot
from clinical.reading.titles import ChapterTitles, CodeTitles
from clinical.text import Part, folded_words, words
from clinical.thresholds import TextThresholds

SEVERAL = {
    "Bluthochdruck": "I10.90",
    "Gürtelrose": "B02.9",
    "Karpaltunnelsyndrom": "G56.0",
    "Schilddrüsenunterfunktion": "E03.9",
    "Prostatakarzinom": "C61",
    "Migräne": "G43.9",
}
NARRATION = (
    "Die Patientin kommt heute zur Kontrolle in die Praxis.",
    "Nächster Termin in drei Wochen vereinbart, Rezept wurde ausgestellt.",
    "Frau Mustermann arbeitet halbtags im Büro und fährt gern Rad.",
)
ODD = ["😀😀", "\x00", "\ud800", "\u202e\u200f", "   ", "\t\n", ".,;", "12345", "x" * 2_000, "1" * 2_000]


def first(index: SearchIndex, query: str) -> str | None:
    found = index.search(query, 1)
    return found[0].code if found else None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        *SEVERAL.items(),
        ("Grippe", "J11.1"),
        ("Hexenschuss", "M54.5"),
        ("Schlaganfall", "I64"),
        ("Zuckerkrankheit", "E14.90"),
        ("Sodbrennen", "R12"),
        ("Herzinfarkt", "I21.9"),
        ("KHK", "I25.19"),
        ("COPD", "J44.99"),
        ("aHT", "I10.90"),
        ("V. a. Pneumonie", "J18.9"),
        ("Z. n. Myokardinfarkt", "I25.29"),
    ],
)
def test_lay_words_and_abbreviations(index: SearchIndex, query: str, code: str) -> None:
    assert first(index, query) == code


@pytest.mark.parametrize(
    "variants",
    [
        ("Zystitis", "Cystitis", "ZYSTITIS", "zystitis "),
        ("Appendizitis", "Appendicitis", "Appendizitiss"),
        ("Prostatakarzinom", "Prostatacarcinom", "Prostata-Karzinom", "Prostatakarzinmo"),
        ("Lungenentzündung", "Lungenentzuendung", "Lungenentzu\u0308ndung", "Lungenentzünding"),
        ("Hämorrhoiden", "Haemorrhoiden", "HÄMORRHOIDEN"),
        ("Migräne", "Migraene", "Migrane"),
        ("Hypertonie", "Hyper\u00adtonie", "Hyper-\ntonie", "\u202eHypertonie", "Hypertonie\x00", "Hypertnoie"),
        ("Karpaltunnelsyndrom", "Carpaltunnelsyndrom", "Karpaltunelsyndrom"),
    ],
    ids=lambda variants: variants[0],
)
def test_variants_have_the_same_first_code(index: SearchIndex, variants: tuple[str, ...]) -> None:
    assert {first(index, variant) for variant in variants} == {first(index, variants[0])} != {None}


def sound(index: SearchIndex, query: str, found: tuple[Candidate, ...], limit: int) -> None:
    """Assert all that holds of every result."""
    drafts = index.reader.drafts([query])
    if index.reader.may_name_two(drafts[0]):  # read as a wording, or as a text
        drafts += index.reader.as_texts(drafts)
    most = max((hit.probability for hit in found), default=0.0)
    assert len(found) <= limit
    assert len({hit.code for hit in found}) == len(found)
    bands = [["high", "medium", "low"].index(hit.confidence) for hit in found]
    assert bands == sorted(bands), "the surer band first"
    for band in (0, 1):  # within a band of what is shown: the order of the text
        starts = [hit.start for hit, own in zip(found, bands, strict=True) if own == band]
        assert starts == sorted(starts)
    for hit in found:
        assert hit.code in index.catalog
        assert 0 <= hit.probability <= 1
        assert hit.text
        assert 0 <= hit.start < hit.end <= len(query)
    levels = [hit.confidence for hit in found]
    assert levels in [[_level(index, index._bounds(draft), hit, most) for hit in found] for draft in drafts]


def _level(index: SearchIndex, bounds: TextThresholds, hit: Candidate, most: float) -> str:
    sure = hit.probability >= bounds.high and not index.kinds.open[index.catalog.number(hit.code)]
    least = bounds.best if hit.probability == most else bounds.medium
    return "high" if sure else "medium" if hit.probability >= least else "low"


@pytest.mark.parametrize("limit", [1, 3, 10, 50, 10_000])
def test_the_limit_holds(index: SearchIndex, limit: int) -> None:
    found = index.search("Diabetes mellitus", limit)
    sound(index, "Diabetes mellitus", found, limit)
    assert len(found) >= min(limit, 10)
    assert found == index.search("Diabetes mellitus", 10_000)[:limit]


@settings(deadline=None, max_examples=25)
@given(query=st.text(max_size=120), limit=st.integers(1, 20))
def test_any_text_gives_a_sound_result(index: SearchIndex, query: str, limit: int) -> None:
    sound(index, query, index.search(query, limit), limit)


@pytest.mark.parametrize("query", ODD, ids=lambda query: ascii(query[:8]))
def test_odd_input_gives_nothing_or_nothing_sure(index: SearchIndex, query: str) -> None:
    found = index.search(query)
    sound(index, query, found, 10)
    assert not any(hit.confidence == "high" for hit in found)
    assert first(index, "Bluthochdruck") == "I10.90"  # the next one works


def test_what_has_no_word_has_no_code(index: SearchIndex) -> None:
    assert index.search("") == index.search("😀") == index.search("   ") == ()


@pytest.mark.parametrize("seed", range(3))
def test_several_diagnoses_of_one_text_are_all_found(index: SearchIndex, seed: int) -> None:
    chance = random.Random(seed)
    names = list(SEVERAL)
    chance.shuffle(names)
    text = f"{chance.choice(NARRATION)} Diagnosen: {'; '.join(names)}. {chance.choice(NARRATION)}"
    found = index.search(text, 20)
    sound(index, text, found, 20)
    assert {SEVERAL[name] for name in names} <= {hit.code for hit in found}
    for name in names:
        hit = next(hit for hit in found if hit.code == SEVERAL[name])
        assert name in text[hit.start : hit.end]


def test_a_text_of_2000_characters(index: SearchIndex) -> None:
    sentences = [f"Bekannt ist {name}. {NARRATION[number % 3]}" for number, name in enumerate(SEVERAL)]
    text = " ".join([*sentences, *NARRATION * 20])[:2_000]
    found = index.search(text, 20)
    sound(index, text, found, 20)
    assert len(text) == 2_000
    assert set(SEVERAL.values()) <= {hit.code for hit in found}


def test_eight_threads_find_what_one_finds(index: SearchIndex) -> None:
    queries = [*SEVERAL, "Diabetes und Bluthochdruck", "; ".join(SEVERAL), "😀", "x" * 500] * 4
    alone = [index.search(query, 10) for query in queries]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: index.search(query, 10), queries))
    assert together == alone


def test_many_queries_find_what_each_finds_alone(index: SearchIndex) -> None:
    chance = random.Random(11)
    titles = [code.title for code in chance.sample(index.catalog.codes, 240)]
    cut = [" ".join(title.split()[: chance.randint(1, 4)]) for title in titles]
    odd = ["", "😀", "x" * 500, "Z. n. Herzinfarkt", "Migrane", "39. SSW", "; ".join(SEVERAL), NARRATION[0] * 20]
    queries = [*cut[:200], *odd, *titles[200:], *odd]
    many = index.search_many(queries, 10)
    assert sum(bool(found) for found in many) > 220
    assert many == [index.search(query, 10) for query in queries]
    assert index.search_many([]) == []


def test_a_text_has_the_same_probabilities_to_the_last_bit_beside_any_number_of_others(index: SearchIndex) -> None:
    texts = ["Bluthochdruck", "akute Bronchitis mit Fieber", "Z. n. Herzinfarkt", "; ".join(SEVERAL)]
    others = [code.title for code in random.Random(12).sample(index.catalog.codes, 64)]
    alone = [index.search(text, 20) for text in texts]
    assert all(alone)
    for count in (*range(1, 18), 31, 32, 33, 64):  # around what a loop of the machine takes at once
        before, behind = others[: count // 2], others[count // 2 : count]
        assert index.search_many([*before, *texts, *behind], 20)[len(before) : len(before) + len(texts)] == alone


def test_a_loaded_index_finds_the_same_again(index: SearchIndex, starter_artifact: Path) -> None:
    again = SearchIndex.load(starter_artifact)
    for query in SEVERAL:
        assert again.search(query) == index.search(query)


def test_a_query_is_read_as_the_wordings_are(index: SearchIndex) -> None:
    """Any wording of the catalog that stands under one code finds that code."""
    tables = index.wordings.tables
    chosen = random.Random(2026).sample(range(len(index.wordings)), 40)
    right = 0
    for number in chosen:
        code = index.catalog.codes[tables.code[number]].code
        right += code in [hit.code for hit in index.search(index.wordings.text(number), 10)]
    assert right >= 36  # a few wordings stand under several codes or say almost nothing


def test_a_general_code_goes_beside_a_specific_one_of_the_same_parent(index: SearchIndex) -> None:
    text = "Mittelgradige depressive Episode, Depression, Hypertonie"
    found = [
        at(text, "F32.1", "Mittelgradige depressive Episode"),
        at(text, "F32.9", "Depression"),
        at(text, "I10.90", "Hypertonie"),
    ]
    told = compared(found, index.catalog)
    assert [one.code for one in told.codes] == ["F32.1", "I10.90"]
    assert (told.general, told.instead) == ({"F32.9"}, {})


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        (("E14.30", "E11.90"), ["E11.30"]),  # of which kind, the other one says; it has complications, then
        (("E11.90", "E14.90"), ["E11.90"]),
        (("E14.91", "E10.90"), ["E10.91"]),
        (("E14.30", "E10.90", "E11.90"), ["E10.90", "E11.90"]),  # of two kinds none is taken
        (("E11.74", "E11.90"), ["E11.74"]),
        (("E11.91", "E11.90"), ["E11.91"]),
        (("I25.19", "I25.12"), ["I25.12"]),
        (("I10.90", "I10.91"), ["I10.91"]),
        (("I50.19", "I50.00"), ["I50.19", "I50.00"]),  # of the other half of the heart
        (("E10.11", "E11.11"), ["E10.11", "E11.11"]),
    ],
)
def test_codes_beside_each_other_say_the_kind_and_what_says_less(index: SearchIndex, shown, left):
    text = "a b c"
    found = [at(text, code, words) for code, words in zip(shown, text.split(), strict=False)]
    assert [one.code for one in compared(found, index.catalog).codes] == left


def test_a_kind_that_is_denied_a_suspicion_or_low_is_not_told(index: SearchIndex):
    text = "Retinopathie, Typ 2"
    retina = at(text, "E14.30", "Retinopathie")
    for other in (
        replace(at(text, "E11.90", "Typ 2"), claim="suspected"),
        replace(at(text, "E11.90", "Typ 2"), confidence="low"),
    ):
        told = compared([retina, other], index.catalog)
        assert (len(told.codes), told.instead, told.general) == (2, {}, set())


def test_the_mention_has_the_code_of_the_kind_that_the_text_tells(index: SearchIndex):
    found = index.read("Diagnosen: Diabetes mellitus Typ 2. Diabetische Retinopathie.")
    assert [code.code for code in found.codes] == ["E11.30"]
    assert [one.codes for one in found.mentions if one.codes] == [("E11.90",), ("E11.30",)]
    assert found.general == {"E11.90"}


def at(text: str, code: str, words: str) -> Candidate:
    start = text.index(words)
    return Candidate(code, 0.9, "high", words, start, start + len(words))


def test_what_somebody_who_is_no_relative_has_gives_no_code(index: SearchIndex):
    found = index.read("Der Nachbar hat Asthma. Migräne.")
    assert [one.code for one in found.codes if one.confidence != "low"] == ["G43.9"]


def test_two_diagnoses_marked_as_one_are_both_found(index: SearchIndex):
    found = index.read("Hypertonie & Gürtelrose")
    assert {"I10.90", "B02.9"} <= {one.code for one in found.codes if one.confidence != "low"}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Leberzirrhose mit Aszites", {"K74.6", "R18"}),
        ("Hypothyreose bei Hashimoto", {"E03.9", "E06.3"}),
        ("Herzinsuffizienz NYHA III bei dilatativer Kardiomyopathie", {"I50.13", "I42.0"}),
        ("Osteoporose mit Wirbelkörperfraktur", {"M80.98"}),
        ("Diabetes mellitus Typ 2 mit Polyneuropathie", {"E11.40"}),
    ],
)
def test_two_conditions_in_a_short_query_are_two_unless_the_catalog_has_both_in_one(index: SearchIndex, text, codes):
    assert {code.code for code in index.read(text).codes} == codes
    assert {code.code for code in index.search(text) if code.confidence != "low"} == codes


def test_an_inoculation_says_nothing_of_what_follows_it(index: SearchIndex):
    found = {hit.code for hit in index.search("MMR-Impfung + Gürtelrose + Migräne", 10) if hit.confidence != "low"}
    assert {"B02.9", "G43.9"} <= found


def test_a_word_that_widens_a_category_is_no_diagnosis(index: SearchIndex):
    known = index.catalog
    codes = (replace(code, terminal=code.code != "B02.9" and code.terminal) for code in known.codes)
    catalog = Catalog(known.version, codes, known.chapters, known.blocks)
    made = (index.wordings, index.encoder, index.ranker, index.manifest, index.expansion, index.typos)
    other = SearchIndex(catalog, *made)
    assert index.search("Gürtelrose", 1)[0].confidence == "high"
    assert [(hit.code, hit.confidence) for hit in other.search("Gürtelrose", 1)] == [("B02.9", "low")]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("NSTEMI am 12.03.2026", "I21.48", "NSTEMI"),
        ("NSTEMI 12.3.26", "I21.48", "NSTEMI"),
        ("Am 3. März 2026 Hypertonie", "I10.90", "Hypertonie"),
        ("Hypertonie am 3.5. diagnostiziert", "I10.90", "Hypertonie"),
        ("Hypokaliämie 2,9 mmol/l", "E87.6", "Hypokaliämie 2,9 mmol/l"),
    ],
)
def test_a_date_or_a_measure_beside_a_disease_neither_hides_it_nor_is_cut(index: SearchIndex, text, code, words):
    found = [hit for hit in index.search(text) if hit.code == code]
    assert [hit.confidence != "low" for hit in found] == [True]
    assert text[found[0].start : found[0].end] == words


def test_a_number_in_a_mention_is_there_as_a_whole_and_a_date_is_not(index: SearchIndex):
    text = "Kalium 6.1 mmol/l, Hypertonie seit 1.5 Jahren, Z. n. Apoplex 12.3.2019, STEMI am 3.4.2026"
    mentions = [text[one.start : one.end] for one in index.read(text).mentions]
    assert mentions[0] in ("Kalium", "Kalium 6.1")
    assert mentions[1:] == ["Hypertonie", "Apoplex", "STEMI"]


@pytest.mark.parametrize("stage", ["NYHA 3", "NYHA III"])
def test_a_stage_is_found_in_either_numerals(index: SearchIndex, stage):
    assert [hit.code for hit in index.search(f"Herzinsuffizienz {stage}") if hit.confidence != "low"] == ["I50.13"]


def test_a_span_that_is_hardly_a_mention_is_searched_in_its_own_words_alone(index: SearchIndex):
    part = Part("Appendektmie", 0, 12)
    spots = [Spot(Reading.of(part.text), part, Claim(), likely=likely) for likely in (True, False)]
    asked = []
    for spot in spots:

        def rank(some, own=asked.append):
            own([words for words, _ in some])
            return index._hits(some)

        index._rewriter.hits([spot], rank)
    assert ("appendektomie",) in asked[0], "the slip is mended"
    assert asked[1] == [("appendektmie",)]


def test_what_the_catalog_has_word_for_word_is_a_mention_whatever_stands_around_it(index: SearchIndex):
    text = "Schenkelhalsfraktur: DHS am 12.3."
    found = {text[one.start : one.end]: one.chance for one in index.read(text).mentions}
    assert found["Schenkelhalsfraktur"] == 1.0


def test_what_is_said_beside_a_relatives_disease_is_the_patients(index: SearchIndex):
    found = index.search("Oma hat Zucker, dazu Bluthochdruck")
    assert "I10.90" in [hit.code for hit in found if hit.confidence != "low"]


@pytest.mark.parametrize(
    "text", ["Eine Pneumonie lässt sich nicht ausschließen", "Eine Pneumonie muss ausgeschlossen werden"]
)
def test_no_mention_ends_with_an_auxiliary_verb(index, text):
    (mention,) = index.read(text).mentions
    assert text[mention.start : mention.end] == "Pneumonie"


@pytest.mark.parametrize("text", ["V. a. Pneumonie", "Verdacht auf Pneumonie"])
def test_a_suspicion_that_is_all_of_a_text_stays_one(index, text):
    (mention,) = index.read(text).mentions
    assert mention.claim == "suspected"


TITLES = ChapterTitles(["Psychische und Verhaltensstörungen", "Krankheiten des Nervensystems", "Neubildungen"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Psychische und\nVerhaltensstörungen\nPanikstörung", ["Psychische und\nVerhaltensstörungen"]),
        ("KRANKHEITEN DES NERVENSYSTEMS: Migräne", ["KRANKHEITEN DES NERVENSYSTEMS"]),
        ("Neubildungen der Haut", []),
        ("psychische Störungen und Verhaltensstörungen", []),
        ("Krankheiten des", []),
    ],
)
def test_titles_are_found_word_for_word(text, found):
    assert [text[start:end] for start, end in TITLES.places(words(text))] == found


def test_a_title_above_a_text_gives_no_code(index: SearchIndex):
    title = index.catalog.chapters["05"]
    text = "Die Patientin kommt zur Kontrolle bei mittelgradiger depressiver Episode."
    with_title = [hit.code for hit in index.search(f"{title}\n{text}") if hit.confidence != "low"]
    assert with_title == [hit.code for hit in index.search(text) if hit.confidence != "low"] != []


OFFICIAL = {
    "Gastritis, nicht näher bezeichnet": "K29.7",
    "Essentielle Hypertonie, nicht näher bezeichnet: Ohne Angabe einer hypertensiven Krise": "I10.90",
    "Rezidivierende depressive Störung, gegenwärtig schwere Episode ohne psychotische Symptome": "F33.2",
    "Diabetes mellitus, Typ 2: Ohne Komplikationen: Nicht als entgleist bezeichnet": "E11.90",
    "Vorhofflimmern, paroxysmal": "I48.0",
}


@pytest.mark.parametrize("form", ["Diagnosen:\n- Husten\n- {}\n- Gicht", "Aufnahme wegen Husten; {}; Gicht."])
@pytest.mark.parametrize(("title", "code"), OFFICIAL.items())
def test_an_official_title_in_a_text_is_one_mention(index: SearchIndex, form: str, title: str, code: str):
    text = form.format(title)
    found = index.read(text)
    assert code in {one.code for one in found.codes}
    assert {text[one.start : one.end] for one in found.mentions if code in one.codes} == {title}


def test_a_denied_title_gives_no_code(index: SearchIndex):
    found = index.read("Kein Anhalt für Gastritis, nicht näher bezeichnet. Husten seit gestern.")
    assert "K29.7" not in {one.code for one in found.codes}


def test_what_a_title_denies_is_denied_of_nothing_behind_it(index: SearchIndex):
    title = "Essentielle Hypertonie, nicht näher bezeichnet: Ohne Angabe einer hypertensiven Krise"
    found = index.read(f"{title}\nGicht\nDiabetes mellitus Typ 2")
    assert {one.claim for one in found.mentions} == {"present"}
    assert {"I10.90", "E11.90"} <= {one.code for one in found.codes}


def test_titles_of_codes_are_found_as_long_as_they_are(index: SearchIndex):
    titles = CodeTitles(index.catalog, index.wordings)

    def places(text: str) -> list[tuple[int, int]]:
        found = titles.places(folded_words(text))
        assert {index.catalog.codes[code].code for _, _, code in found} <= {"K29.7"}
        return [(first, last) for first, last, _ in found]

    assert places("Husten Gastritis, nicht näher bezeichnet Gicht") == [(1, 4)]
    assert places("Husten Gastritis, nicht näher") == []
    assert places("Gastritis") == places("") == []


TEXT = "Bluthochdruck, seit Jahren bekannt. Keine Migräne. Gürtelrose abgeheilt, heute Kontrolle."


def read_by(index: SearchIndex, claims_of: ClaimReader) -> SearchIndex:
    parts = (index.catalog, index.wordings, index.encoder, index.ranker, index.manifest, index.expansion)
    return SearchIndex(*parts, index.typos, index.confidence, index.suggester, claims_of)


def shown(index: SearchIndex, text: str = TEXT) -> set[str]:
    return {one.code for one in index.read(text).codes}


def always(claim: Claim) -> ClaimReader:
    def claims_of(reading: Reading, spans: Sequence[tuple[int, int]]) -> list[Claim]:
        return [claim for _ in spans]

    return claims_of


def test_the_table_of_triggers_is_one_reader_of_claims(index: SearchIndex) -> None:
    assert "I10.90" in shown(index)
    assert "G43.9" not in shown(index)
    assert shown(read_by(index, claims_by_triggers)) == shown(index)


def test_another_reader_of_claims_decides_what_is_coded(index: SearchIndex) -> None:
    assert "G43.9" in shown(read_by(index, always(Claim())))
    assert shown(read_by(index, always(Claim(negation="denied")))) == set()
    strangers = read_by(index, always(Claim(experiencer="other")))
    assert shown(strangers) == set()
    assert {one.claim for one in strangers.read(TEXT).mentions} == {"family"}


def test_a_slip_in_a_past_disease_is_no_reason_to_code_it_as_active(index: SearchIndex) -> None:
    """Every hit of a past mention is down-weighted, also those of its mended words."""
    mended = {one.code: one.probability for one in index.search("Z. n. Myokardinfrakt")}
    assert max(mended, key=mended.__getitem__).startswith("I25.2"), mended


def words_shown(index: SearchIndex, text: str) -> dict[str, str]:
    """The codes words_shown, each with the words that it was found by."""
    return {one.code: text[one.start : one.end] for one in index.read(text).codes}


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("Knie re.: Erguss, kein Fieber.", "M25.46", "Erguss"),
        ("Knie rechts, seit gestern Schmerzen, kein Fieber", "M25.56", "Schmerzen"),
        ("Schulter li.: Prellung, Husten", "S40.0", "Prellung"),
    ],
)
def test_the_part_of_the_body_beside_a_finding(index: SearchIndex, text: str, code: str, words: str) -> None:
    assert words_shown(index, text)[code] == words


def test_a_part_of_the_body_that_is_a_label_is_no_finding(index: SearchIndex) -> None:
    assert set(words_shown(index, "Schulter li.: Prellung, Husten")) == {"S40.0", "R05"}
    alone = "LWS: seit 3 Wochen. Husten."
    assert "LWS" in {span.part.text for span in index.reader.drafts([alone])[0].spans}


def test_what_lies_on_another_line_or_is_of_no_part_stays(index: SearchIndex) -> None:
    assert "M25.46" not in words_shown(index, "Knie reizlos, frei beweglich\nPleura: Erguss basal, Husten")
    assert {"J00", "R50.9"} <= set(words_shown(index, "Schnupfen, Nase zu, Fieber seit gestern"))


def test_what_is_denied_is_denied_at_every_part(index: SearchIndex) -> None:
    assert "M25.46" not in words_shown(index, "Knie re.: kein Erguss, Husten")


def test_a_stage_by_itself_has_no_code(index: SearchIndex) -> None:
    assert not {"N18.3", "I50.13"} & set(words_shown(index, "Befund: Stadium III. Husten"))
    assert words_shown(index, "Husten, NYHA III, Fieber")["I50.13"] == "NYHA III"
