"""Befund's own wordings for the whole catalog: rightly coded, new, and none that the official files word otherwise."""

from collections import Counter

from catalog_build.official.source import Synonym, read_source
from catalog_build.own_synonyms import (
    AUTHORS,
    OVERRULING,
    STARTER,
    AuthoredWording,
    authored_wordings,
    everyday_texts,
    everyday_words,
    heard,
    index_without,
    load_authored,
    own_texts,
    practice_texts,
    references,
    replacements,
    spelled,
    with_everyday,
)
from catalog_build.synonyms import all_texts


def test_every_code_is_terminal(terminal):
    own = (*everyday_texts(), *practice_texts())
    assert len(own) > len(everyday_texts()) > 0
    assert [text for text in own if not {text.code, *text.secondary} <= terminal] == []


def test_no_wording_stands_twice_or_in_the_starter_or_in_the_official_files(official):
    mine = Counter(spelled(text.text) for text in (*everyday_texts(), *practice_texts()))
    assert [words for words, count in mine.items() if count > 1] == []
    terminal = {code.code for code in official.catalog if code.terminal}  # no title of a category stands in the way
    known = {spelled(text.text) for text in all_texts(official) if text.code in terminal}
    known |= {spelled(text.text) for text in read_source(STARTER).synonyms}
    assert [words for words in mine if words in known] == []


def test_words_are_single_words_that_nothing_else_explains():
    words = [each.word for each in everyday_words()]
    assert [word for word in words if len(spelled(word)) != 1] == []
    assert len({word.casefold() for word in words}) == len(words)
    theirs = {each.word.casefold() for each in references(read_source(STARTER)) if each not in everyday_words()}
    assert [word for word in words if word.casefold() in theirs] == []


def test_a_catalog_gets_the_wordings_of_its_codes_and_knows_which_codes_they_are():
    starter = with_everyday(read_source(STARTER))
    texts = own_texts(starter, all_texts(starter))
    assert texts
    named = {text.code for text in everyday_texts()}
    assert {code.code for code in starter.catalog if code.everyday} >= named & {text.code for text in texts}
    assert {text.code for text in texts} <= {code.code for code in starter.catalog if code.terminal}
    assert not all(code.everyday for code in starter.catalog)


def test_a_code_that_many_authors_practise_stands_above_an_official_one():
    starter = read_source(STARTER)
    texts, kept = all_texts(starter), heard(all_texts(starter), starter.catalog)
    gone = {(text.text, text.code) for text in set(texts) - set(kept)}
    assert {("Divertikulose", "K57.90"), ("Appendizitis", "K37")} <= gone
    found = {text.text: text.code for text in own_texts(starter, texts)}
    assert (found["Divertikulose"], found["Appendizitis"]) == ("K57.30", "K35.8")
    of_lactation = next(one for one in authored_wordings() if one.text == "Mastitis")
    assert of_lactation.code == "O91.20"  # five authors, of another chapter than N61
    assert Synonym("Mastitis", "N61") in heard([Synonym("Mastitis", "N61")], starter.catalog)
    assert heard([Synonym("Divertikulose", "K57.90", source="title")], starter.catalog)


def test_an_acronym_is_found_by_its_wording_and_inside_a_longer_one(index):
    pairs = dict(replacements(everyday_words()))
    assert index.expansion.expanded("V. a. OSAS") == f"V. a. {pairs['OSAS']}"
    assert index.search("OSAS")[0].code == "G47.31"


def test_words_of_authors_have_the_code_that_most_of_them_gave_and_three_overrule_our_own():
    given = {spelled(one.text): one for one in authored_wordings()}
    assert len(given) == len(authored_wordings())
    starter = read_source(STARTER)
    own = {spelled(text.text): text for text in own_texts(starter, all_texts(starter))}
    ours = {spelled(text.text): text.code for text in (*everyday_texts(), *practice_texts())}
    terminal = {code.code for code in starter.catalog if code.terminal}
    both = [words for words, one in given.items() if words in own and words in ours and one.code in terminal]
    overruled = [words for words in both if own[words].source == AUTHORS]
    assert overruled
    assert all((words in overruled) == (len(given[words].authors) >= OVERRULING) for words in both)
    assert all(own[words].code == given[words].code for words in overruled)


def test_an_index_can_be_made_that_has_never_heard_of_some_wordings(starter_artifact, index):
    """Of all that are no titles, those of authors among them."""
    tables, authored = index.wordings.tables, load_authored(starter_artifact)
    assert authored
    known = {(one.text, one.code, one.authors) for one in authored_wordings()}
    assert {(one.text, one.code, one.authors) for one in authored} <= known
    rows = [(index.wordings.text(n), index.catalog.codes[code].code) for n, code in enumerate(tables.code.tolist())]
    titles = {rows[n] for n in tables.title.tolist()}
    gone = {AuthoredWording(*row, frozenset()) for row in rows if row not in titles}
    assert {(one.text, one.code) for one in authored} <= {(one.text, one.code) for one in gone} | titles
    blind = index_without(index, gone)
    assert {blind.wordings.text(n) for n in range(len(blind.wordings))} == {text for text, _ in titles}
    assert blind.search("Migräne ohne Aura")[0].code == index.search("Migräne ohne Aura")[0].code
    assert index_without(index, []) is index
