"""Kind of document, read from the letter's title line."""

from __future__ import annotations

import re

from clinical.letters.layout import LetterLayout

SPECIALTY = re.compile(
    r"^(?:[\w-]*(?:ologie|iatrie|chirurgie|ädie|medizin|therapie|gynäkologie|urologie|hilfe|heilkunde|anästhesie|"
    r"chirurgie)|Innere(?:\s\w+)?|Psychosomatik|Palliative? \w+|Palliativ\w*|Physiotherapie|Intensivstation|Kreißsaal|"
    r"Medizin|Aufnahme|Notfall|Chirurgie|HNO|Memory Clinic|Med\. Klinik [IVX\d]+|Geburtshilfe|Onkologie|"
    r"\w+(?:ische|ale|ische und \w+ische)\s(?:Chirurgie|Medizin|Onkologie|Tagesklinik|Rehabilitation|Radiologie))"
    r"(?:\s(?:und|&|/)\s[\w-]*(?:ologie|iatrie|chirurgie|ädie|medizin|therapie|hilfe|heilkunde|Chirurgie))?(?:\s(?:I|"
    r"II|III|IV|\d))?$",
    re.IGNORECASE,
)
"""Medical specialties and their departments, where nothing else stands beside them."""

_KIND_WORD = re.compile(
    r"(?<![\w-])[\w-]*(?:bericht|brief|zuweisung(?:sschreiben)?|"
    r"überweisung(?:sschein|sempfehlung)?|einweisung(?:sschein)?|"
    r"befund|konsil|konsilium|konsilanforderung|epikrise|anmeldung|\w*formular|anforderung|kurzbrief|verordnung|"
    r"verlegungsbrief|verlegung|gutachten|mitteilung|auftrag|protokoll|\w*anfrage|bescheinigung|attest|gesuch|rezept|"
    r"arztzeugnis|antrag|anmeldebogen|notiz|ambulanzkarte|notfallvorstellung|begleitschreiben)(?![\w-])",
    re.IGNORECASE,
)
_ADJECTIVE = re.compile(
    r"^(?:definitive[rs]?|vorläufige[rs]?|provisorische[rs]?|ärztliche[rs]?|ambulante[rs]?|stationäre[rs]?|"
    r"\w+ische[rs]?|\w*ärztliche[rs]?|\w*ÄRZTLICHE[RS]?|interdisziplinäre[rs]?|dringende[rs]?|ausführliche[rs]?|"
    r"gemeinsame|elektronische|online|interne|externe|kurze[rs]?|abschliessende[rs]?|fachärztliche[rs]?|"
    r"endgültige[rs]?)$",
    re.IGNORECASE,
)
_NO_KIND = re.compile(
    r"untersuchungsbefund|vorgeschichte|^befund$|^befunde$|lokalbefund|op-?bericht,|beilage|vorbefund|befund an\b|"
    r"^auftrag|^bericht an",
    re.IGNORECASE,
)
_CUTS = re.compile(
    r"\s+vom\s+|\s{2,}(?=(?:Status|Version|Seite)\b)|\s+-\s+|\s+[–—]\s+|:|\t|\s{3,}|\s\|\s|\s·\s|,|\s+(?=Nr\b)|"
    r"\s+(?=\([^()]*\d)"
)
_OFFICIAL = re.compile(
    r"^(?:Verordnung von Krankenhausbehandlung(?:\s\(Einweisung\))?|Einweisung in (?:das|ein) Krankenhaus)",
    re.IGNORECASE,
)
"""The title of the form that every German practice uses."""
_TO_WHOM = (
    "an in herr herrn frau fr. hr. hrn. pat. intern extern für patient patientin von spital klinik klinikum uk kh lkh "
    "praxis station"
)
_WHOM = frozenset(_TO_WHOM.split())
"""Words behind a title that say whom it is for."""
_MATTER = re.compile(
    r"(?:zur|zum|über|auf|um|mit)\s(?!(?:Ihren?|unseren?|den|o\.|og)?\s?(?:Herrn?|Frau|Pat\b|Patient|Patientin|Kind)\b)"
    r"[^\d:]+",
    re.IGNORECASE,
)
"""The part of a title that says what it is about: `zur genetischen Beratung`, `über die ambulante Diagnostik`."""
KIND_WORDS, WITH_MATTER = 5, 12
"""Words of a title, alone and with what it is about."""
HEAD_MOST = 100
"""Lines in which a title is looked for: a letterhead with its form has a few dozen; a text of short lines alone has
thousands, which all count as its head."""


def kind_of(line: str) -> str | None:
    """The title in a line: the piece that is a kind of document with its adjectives; None for any other line."""
    text = line.strip(" \t*_=#")
    text = text.partition(":")[0] if len(text) > 90 else text
    if not text or len(text) > 130:
        return None
    spaced = re.sub(r"(?<=\b\w)\s(?=\w\b)", "", text) if re.match(r"^(?:\w\s){5,}\w$", text) else text
    if official := _OFFICIAL.match(text):
        return official[0].strip()
    for piece in (_tidy(one, first=n == 0) for n, one in enumerate(_CUTS.split(spaced))):
        words = piece.split()
        found = _KIND_WORD.search(piece)
        matter = found is not None and _MATTER.fullmatch(piece[found.end() :].strip()) is not None
        if (
            not found
            or len(words) > (WITH_MATTER if matter else KIND_WORDS)
            or not (piece[:1].isupper() or _ADJECTIVE.match(words[0]))
            or _NO_KIND.search(piece)
        ):
            continue
        before, behind = piece[: found.start()].split(), piece[found.end() :].split()
        if all(_ADJECTIVE.match(word) for word in before) and (matter or _may_follow(behind)):
            if behind[:1] and (behind[0].lower() in _WHOM or any(word.endswith(".") for word in behind)):
                return " ".join([*before, found.group()])
            return piece
    return None


def _tidy(piece: str, first: bool) -> str:
    """Without rules around it, a technical bracket or a preposition at its end; behind other words of its line also
    without the department it goes to."""
    piece = re.sub(
        r"\s+(?:an|in|für)$|\s\((?:elektronisch|online|intern|extern|PDF|Fax|Kopie|Entwurf)\)$|"
        r"\s\([^\W\d_]{5,20}\s[^()]{5,60}\)$|\s+\([xX ]\).*$",
        "",
        piece.strip(" *_=#-–"),
    )
    head, _, last = piece.rpartition(" ")
    return head if not first and head and SPECIALTY.match(last) and _KIND_WORD.search(head) else piece


def department_of_title(line: str) -> str | None:
    """Return the department that a request names in its title: `Konsilanforderung Strahlentherapie`."""
    for piece in _CUTS.split(line.strip(" *_=#-–")):
        head, _, last = piece.strip().rpartition(" ")
        if head and SPECIALTY.match(last) and _KIND_WORD.search(head) and len(head.split()) <= 3:
            return last
    return None


def _may_follow(words: list[str]) -> bool:
    return (
        not words
        or words[0] in ("/", "(Einweisung)")
        or (words[0].lower() in _WHOM)
        or (len(words) <= 3 and all(word[:1].isupper() or word[:1] in "(/" or _ADJECTIVE.match(word) for word in words))
    )


def title_of(sheet: LetterLayout) -> tuple[str | None, int | None]:
    """(title, its line): in the head or the first lines, never in the text."""
    subject = re.compile(r"^(?:betreff|betrifft|betr\.?)\s*:\s*(?:(?:AW|WG|RE|FW|FWD)\s*:\s*)*", re.IGNORECASE)
    last = sheet.head_end if sheet.head_end > 3 else min(14, len(sheet.lines))
    for n in range(min(last, len(sheet.lines), HEAD_MOST)):
        line = sheet.lines[n].strip()
        bare = re.sub(r"^(?:Formular|Dokument(?:typ)?|Typ)\s*:\s*", "", subject.sub("", line))
        if line and len(line.partition(":")[0]) < 130 and (found := kind_of(bare)):
            return found, n
    return _plain_findings(sheet)


_FINDINGS = re.compile(r"^(Befund)(?:\s[-–]\s.{3,60}|\s+vom\s.{6,40})?$", re.IGNORECASE)


def _plain_findings(sheet: LetterLayout) -> tuple[str | None, int | None]:
    """`Befund` is a title where it stands alone above the text, not as a section's label with a colon."""
    for n in range(min(len(sheet.lines), sheet.greeting, 40)):
        line = sheet.lines[n].strip()
        blank_above = n == 0 or not sheet.lines[n - 1].strip()
        if blank_above and (found := _FINDINGS.match(line)) and (n < sheet.head_end + 2 or " - " in line):
            return found[1], n
    return None, None
