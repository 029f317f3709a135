"""Sentences and lists within running text: stops that end one, commas that divide drugs."""

from __future__ import annotations

import re

_STOP = re.compile(r"(?<![.!?])[.!?]++(?=\s++[\"„(]?[^\W_a-zäöü])")
"""A run of marks is one stop, read once, from its beginning; else it is read again from each of its marks."""
_ABBREVIATED = re.compile(
    r"(?:^|[\s(./-])(?:[A-Za-zÄÖÜäöü]|\d{1,2}|ca|bzw|tgl|tägl|Dr|Prof|Doz|Prim|med|li|re|bds|ggf|evtl|ev|inkl|incl|"
    r"ca|vgl|max|min|Tbl|Kps|Tr|Amp|"
    r"St|Str|Nr|Pat|Hr|Fr|Abt|z|n|Z|V|v|a|art|chron|rez|rezid|path|metast|resp|sog|usw|etc|dzt|stat|amb|St|post|inf|"
    r"sup|lat|med|prox|dist|"
    r"Lsg|Std|Wo|Mo|Min|Sek|bes|insb|zw|o|g|u|i|d|s|c|p|b|B|kolleg|freundl|Tel|geb|Jh|Kap|Abb|Bed|Ko|Ltd|Ass|Univ|"
    r"dext|sin|ret|Fract|fract|körperl|regelm|postop|präop|op)$"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its own stop; abbreviations and ordinals end none."""
    if " " not in text and "\n" not in text and "\t" not in text:
        return [text] if text else []
    found: list[str] = []
    start = 0
    for stop in _STOP.finditer(text):
        before = text[max(start, stop.start() - 10) : stop.start()]
        if stop.group() == "." and _ABBREVIATED.search(before):
            continue
        found.append(text[start : stop.end()].strip())
        start = stop.end()
    return [one for one in (*found, text[start:].strip()) if one]


def divided(text: str, signs: str = ";") -> list[str]:
    """The text cut at the signs, not within brackets and not within numbers."""
    pieces: list[str] = []
    depth, start = 0, 0
    for n, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth = max(0, depth - 1)
        elif (
            char in signs
            and not depth
            and not (char == "," and text[n - 1 : n].isdigit() and text[n + 1 : n + 2].isdigit())
        ):
            pieces.append(text[start:n])
            start = n + 1
    pieces.append(text[start:])
    return [
        piece.strip(" .\t") if piece.strip().endswith("..") else piece.strip()
        for piece in pieces
        if piece.strip(" .,;")
    ]
