"""Fixed lists: the ticked box or the labelled value of a form, else the explicit word that grounding accepts."""

from __future__ import annotations

import re
from functools import cached_property
from typing import get_args

from clinical.claims import either
from clinical.contract import Zuweisung
from clinical.letters.grounding import Circumstances, named_choice
from clinical.letters.labels import label_of
from clinical.letters.layout import LetterLayout

_LABELS = {
    "versicherung.klasse": "klasse",
    "aufenthalt.art": "art",
    "kostengutsprache": "kostengutsprache",
    "dringlichkeit": "dringlichkeit",
}
_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "versicherung.klasse": (
        ("halbprivat", r"halb\s?-?privat|^hp\b|2\.\s?kl"),
        ("privat", r"(?<!halb)(?<!halb-)privat|^p\b|1\.\s?kl"),
        ("allgemein", r"a[l1]+gemein|^allg\b|grundvers|3\.\s?kl"),
    ),
    "aufenthalt.art": (
        ("stationaer", r"(?<!teil)(?<!nach)stationär|hospitalisation"),
        ("ambulant", r"(?<!tages)ambulant|sprechstunde"),
    ),
    "kostengutsprache": (
        ("wird_eingeholt", r"wird\s(?:\w+\s){0,3}eingeholt"),
        ("beantragt", r"beantragt|eingereicht"),
        ("liegt_vor", r"(?:liegt\s(?:bei|vor)|vorhanden|erteilt|vorliegend|genehmigt)"),
    ),
    "dringlichkeit": (
        ("notfall", r"notfall|\bsofort|unverzüglich"),
        ("dringlich", r"(?<!vor)dringlich|dringend|\beilig|\beilt|zeitnah|baldmöglichst"),
        ("elektiv", r"elektiv|planbar|geplant"),
    ),
}
_NEGATED = re.compile(rf"\b(?:{either('@denying', '@answered_no')}|offen\w*)\b", re.IGNORECASE)
_NO_HURRY = re.compile(r"\b(?:nicht\s(?:eilig|dring)|(?:ohne|keine)\sEile)", re.IGNORECASE)
"""Denied urgency that is a value of its own."""
_BOX = re.compile(r"\[\s?[xX✓✔]?\s?\]|\(\s?[xX]?\s?\)(?=\s?\w)|[☐□◻☒☑■●○]")
_TICKED = re.compile(r"[xX✓✔☒☑■●]")


def allowed(path: str) -> tuple[str, ...]:
    """The values of a fixed list."""
    outer, _, inner = path.partition(".")
    field = Zuweisung.model_fields[outer]
    if inner:
        field = type(field.default).model_fields[inner]
    return tuple(value for option in get_args(field.annotation) for value in get_args(option))


class ChoiceReader:
    """Reads the fixed lists of one sheet."""

    def __init__(self, sheet: LetterLayout, circumstances: Circumstances) -> None:
        self.sheet, self.circumstances = sheet, circumstances

    def read(self, path: str) -> str | None:
        """The value, or None where the letter states none or several."""
        boxed, offered = self._boxed(path)
        if boxed or offered:
            return boxed
        labelled = [one for one in self.sheet.labelled if one.field == _LABELS[path]]
        for one in labelled:
            value = self._meant(path, " ".join(one.cells[:2])[:80])
            if value is not None:
                return value
        if path == "versicherung.klasse":
            insured = (" ".join(one.cells[:2])[:120] for one in self.sheet.labelled if one.field == "versicherung")
            beside = (re.split(r"[,/;(]\s*", value, maxsplit=1) for value in insured)
            found_beside = (self._meant(path, parts[1]) for parts in beside if len(parts) > 1)
            if value := next((one for one in found_beside if one), None):
                return value
        if labelled and path in ("dringlichkeit", "versicherung.klasse"):
            return None
        value = named_choice(self.circumstances, path)
        return value if value in allowed(path) else None

    def _meant(self, path: str, text: str) -> str | None:
        if path == "dringlichkeit" and _NO_HURRY.search(text):
            return "elektiv"
        if _NEGATED.search(text):
            return None
        return next((value for value, pattern in _WORDS[path] if re.search(pattern, text, re.IGNORECASE)), None)

    @cached_property
    def _with_boxes(self) -> list[str]:
        """The lines of the form that offer boxes; all fixed lists look at the same ones."""
        return [line for line in self.sheet.lines if len(line) <= 300 and _BOX.search(line)]

    def _boxed(self, path: str) -> tuple[str | None, bool]:
        """(value of the ticked box, whether boxes offer values of this field at all)."""
        offered = False
        for line in self._with_boxes:
            options = _options(line)
            meant = [(self._meant(path, text), ticked) for text, ticked in options]
            label = label_of(re.split(r":|\t|\s{2,}", line.strip())[0])
            of_field = label == _LABELS[path] or (
                label not in set(_LABELS.values()) and path != "kostengutsprache" and any(value for value, _ in meant)
            )
            if not of_field:
                continue
            values = {value for value, ticked in meant if ticked and value}
            if len(values) == 1:
                return values.pop(), True
            offered = offered or label == _LABELS[path]
        return None, offered


def _options(line: str) -> list[tuple[str, bool]]:
    """(text, ticked) of every box of a line; boxes stand before their words, or behind where the line ends with one."""
    boxes = list(_BOX.finditer(line))
    behind = line.rstrip().endswith(boxes[-1].group()) and bool(
        re.search(r"\w\s*$", line[: boxes[0].start()].split(":")[-1])
    )
    found: list[tuple[str, bool]] = []
    for n, box in enumerate(boxes):
        if behind:
            start = (
                boxes[n - 1].end() if n else max(line.rfind(":", 0, box.start()), line.rfind("\t", 0, box.start())) + 1
            )
            text = line[start : box.start()]
        else:
            text = line[box.end() : boxes[n + 1].start() if n + 1 < len(boxes) else len(line)]
        found.append((re.split(r"\s{3,}|\t|;", text.strip())[0], bool(_TICKED.search(box.group()))))
    return found
