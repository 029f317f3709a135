"""The model of the entries of a letter's lists: what an author marked becomes lessons, and is learned."""

import numpy as np

from catalog_build.training.letters import parse_letters
from catalog_build.training.spans import span_lesson, spans_left_out, train_spans
from catalog_build.training.statements import part_lessons, train_parts, train_statements
from clinical.letters import LISTS, STATES, ReaderModels, RulesReader, entries_in

LETTER = """### arztbrief
Diagnosen: {Gicht|diagnosen}, {Asthma, gut eingestellt|diagnosen}, {Husten|diagnosen?}

Am 3. Tag {Appendektomie|eingriffe} ohne Komplikationen. Die Wunde war reizlos.

Medikation: {Ramipril 5 mg 1-0-0|medikation}

{Wir bitten um Kontrolle in {n} Wochen.|procedere}
"""


def letters(folder, name, count=4):
    file = folder / f"{name}.txt"
    file.write_text("\n===\n".join(LETTER.replace("{n}", str(n + 2)) for n in range(count)), "utf-8")
    return parse_letters(file)


def models(some):
    return ReaderModels(train_statements(some), train_parts(part for one in some for part in part_lessons(one)))


def test_marks_become_states_of_words_and_what_may_be_left_out_is_none(tmp_path):
    some = letters(tmp_path, "l98")
    states = span_lesson(some[0], models(some)).states
    text = some[0].text
    words = RulesReader(text).lists.words.words
    at = {text[start:end]: n for n, (start, end) in enumerate(words.tolist())}
    diagnoses, drugs, plans = (states[:, LISTS.index(name)] for name in ("diagnosen", "medikation", "procedere"))
    assert [diagnoses[at[word]] for word in ("Diagnosen", "Gicht", "Asthma", "Husten")] == [0, 1, 1, 0]
    assert [drugs[at[word]] for word in ("Medikation", "Ramipril", "mg")] == [0, 1, 2]
    assert [plans[at[word]] for word in ("Wir", "bitten", "Wochen", "Wunde")] == [1, 2, 2, 0]


def test_lists_that_a_referral_has_not_are_not_learned(tmp_path):
    file = tmp_path / "l96.txt"
    file.write_text("### zuweisung\nDiagnosen: {Gicht|diagnosen}, {Asthma|diagnosen}\n", "utf-8")
    states = span_lesson(parse_letters(file)[0], models(letters(tmp_path, "l98"))).states
    assert (states[:, LISTS.index("procedere")] == -1).all()
    assert set(states[:, LISTS.index("diagnosen")].tolist()) == {0, 1}


def test_what_was_marked_is_found_again_and_each_author_is_judged_by_a_model_of_others(tmp_path):
    authors = {name: letters(tmp_path, name) for name in ("l97", "l98", "l99")}
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
