"""Models of a letter's statements, question, parts and entries: what an author marked is learned."""

import numpy as np

from catalog_build.training.letters import parse_letters, read_letters
from catalog_build.training.spans import span_lesson, spans_left_out, train_spans
from catalog_build.training.statements import (
    fitted,
    left_out,
    lesson,
    part_lesson,
    parts_left_out,
    question_lesson,
    questions_left_out,
    train_parts,
    train_questions,
    train_statements,
)
from clinical.letters import LISTS, STATES, ReaderModels, RulesReader, entries_in

LETTER = """### arztbrief
Diagnosen
- {Gicht|diagnosen}
- {Asthma|diagnosen?}

Verlauf ohne Komplikationen. {Wir bitten um Kontrolle in {n} Wochen.|procedere}
Die Wunde war reizlos.
"""


def parsed(folder, *texts, name="l99"):
    file = folder / f"{name}.txt"
    file.write_text("\n===\n".join(texts), "utf-8")
    return parse_letters(file)


def letters(folder, count=3):
    return parsed(folder, *(LETTER.replace("{n}", str(n + 2)) for n in range(count)))


def test_marks_become_right_lists_and_what_is_optional_is_not_learned(tmp_path):
    one = lesson(letters(tmp_path)[0])
    diagnoses, plans = LISTS.index("diagnosen"), LISTS.index("procedere")
    assert one.right[:, diagnoses].tolist() == [True, False, False, False, False]
    assert one.learned[:, diagnoses].tolist() == [True, False, True, True, True]
    assert one.right[:, plans].tolist() == [False, False, False, True, False]
    assert one.learned[:, plans].all()


def test_what_was_marked_is_likelier_than_what_was_not(tmp_path):
    lessons = [lesson(letter) for letter in letters(tmp_path, 8)]
    for known in lessons:
        known.right[0, 1:3] = True  # both other lists have to have something to learn
    likely = fitted(lessons, 10.0).judge(lessons[0].rows)
    assert likely[:, LISTS.index("procedere")].argmax() == 3
    assert likely[:, LISTS.index("diagnosen")].argmax() == 0


def test_an_author_is_judged_by_a_model_of_the_others():
    authors = dict(list(read_letters("train").items())[:3])
    every = [one for own in authors.values() for one in own]
    right, wrong, missing = left_out(authors)["procedere"]
    plans = [one.right[:, LISTS.index("procedere")].sum() for one in map(lesson, every) if one is not None]
    assert right + missing == sum(plans)
    assert right > wrong
    right, wrong, missing = questions_left_out(authors)
    asked = [bool(one.right.any()) for one in map(question_lesson, every) if one is not None]
    assert right + missing == sum(asked)
    assert right > wrong
    right, parts = parts_left_out(authors)
    assert parts == sum(len(one.rows) for one in map(part_lesson, every) if one is not None)
    assert right > 0.7 * parts


ASKING = """### zuweisung
Sehr geehrte Kollegen,

Frau Ott klagt seit Mai über Leistenschmerz. {OP-Indikation?|fragestellung} {Ambulant möglich?|fragestellung?}
"""


def test_a_marked_question_is_learned_and_an_optional_one_is_not(tmp_path):
    (letter,) = parsed(tmp_path, ASKING)
    known = question_lesson(letter)
    assert known.right[:, 0].tolist() == [False, False, True, False]
    assert known.learned[:, 0].tolist() == [True, True, True, False]
    likely = train_questions([letter] * 4).judge(known.rows)[:, 0]
    assert np.argmax(likely) in (2, 3)


def test_a_part_begins_a_diagnosis_where_a_mark_begins_in_it(tmp_path):
    marked = "Diagnosen: {Gicht|diagnosen}, {Asthma, gut eingestellt|diagnosen}, {Husten|diagnosen?}"
    (letter,) = parsed(tmp_path, f"### arztbrief\n{marked}\n")
    parts = part_lesson(letter)
    assert parts.right[:, 0].tolist() == [True, True, False]
    assert train_parts([letter] * 4).judge([parts.rows[0], parts.rows[2]])[:, 0].argmax() == 0


# --- The model of the entries of a letter's lists --------------------------------------------------------------------


ENTRIES = """### arztbrief
Diagnosen: {Gicht|diagnosen}, {Asthma, gut eingestellt|diagnosen}, {Husten|diagnosen?}

Am 3. Tag {Appendektomie|eingriffe} ohne Komplikationen. Die Wunde war reizlos.

Medikation: {Ramipril 5 mg 1-0-0|medikation}

{Wir bitten um Kontrolle in {n} Wochen.|procedere}
"""


def entries_of(folder, name, count=4):
    return parsed(folder, *(ENTRIES.replace("{n}", str(n + 2)) for n in range(count)), name=name)


def models(some):
    return ReaderModels(train_statements(some), train_parts(some))


def test_marks_become_states_of_words_and_what_may_be_left_out_is_none(tmp_path):
    some = entries_of(tmp_path, "l98")
    states = span_lesson(some[0], models(some)).states
    text = some[0].text
    words = RulesReader(text).lists.words.words
    at = {text[start:end]: n for n, (start, end) in enumerate(words.tolist())}
    diagnoses, drugs, plans = (states[:, LISTS.index(name)] for name in ("diagnosen", "medikation", "procedere"))
    assert [diagnoses[at[word]] for word in ("Diagnosen", "Gicht", "Asthma", "Husten")] == [0, 1, 1, 0]
    assert [drugs[at[word]] for word in ("Medikation", "Ramipril", "mg")] == [0, 1, 2]
    assert [plans[at[word]] for word in ("Wir", "bitten", "Wochen", "Wunde")] == [1, 2, 2, 0]


def test_lists_that_a_referral_has_not_are_not_learned(tmp_path):
    (letter,) = parsed(tmp_path, "### zuweisung\nDiagnosen: {Gicht|diagnosen}, {Asthma|diagnosen}\n", name="l96")
    states = span_lesson(letter, models(entries_of(tmp_path, "l98"))).states
    assert (states[:, LISTS.index("procedere")] == -1).all()
    assert set(states[:, LISTS.index("diagnosen")].tolist()) == {0, 1}


def test_what_was_marked_is_found_again_and_each_author_is_judged_by_a_model_of_others(tmp_path):
    authors = {name: entries_of(tmp_path, name) for name in ("l97", "l98", "l99")}
    model = train_spans(authors)
    assert model.weights.shape[1] == STATES * len(LISTS)
    assert np.isfinite(model.weights).all()
    reader = RulesReader(authors["l98"][0].text)
    found = entries_in(reader.sheet, reader.lists.words, model)
    texts = {name: [reader.sheet.text[start:end] for start, end in spans] for name, spans in found.items()}
    assert {"Gicht", "Asthma, gut eingestellt"} <= set(texts["diagnosen"])
    assert texts["medikation"] == ["Ramipril 5 mg 1-0-0"]
    assert texts["procedere"] == ["Wir bitten um Kontrolle in 2 Wochen."]
    right, wrong, missing = spans_left_out(authors)["medikation"]
    assert right + missing == 12
    assert right > wrong
