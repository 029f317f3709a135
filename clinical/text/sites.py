"""Parts of the body that a text names beside what is there: "Knie re.: Erguss".

They are the joints, bones and regions by which ICD-10-GM divides injuries, diseases of joints and skin, and their short
forms. A compound with a finding ("Kniegelenkserguss", "Rippenfraktur") names that finding, and is none.
"""

from __future__ import annotations

import re
from typing import Final

_STEMS: Final = """
kopf schädel stirn schläfe gesicht wange kinn lippe kiefer oberkiefer unterkiefer nase nasenflügel nasenrücken ohr
ohrmuschel auge oberlid unterlid augenlid lid hals nacken kehle zunge gaumen zahn
schulter schulterblatt schultergelenk achsel oberarm ellenbogen ellbogen ellenbogengelenk unterarm handgelenk
hand handrücken handfläche finger zeigefinger mittelfinger ringfinger kleinfinger daumen daumengrundgelenk
fingergelenk arm schlüsselbein
thorax brustkorb brustwand rippe brust mamma rücken flanke bauch oberbauch unterbauch nabel leiste steiß steißbein
becken hüfte hüftgelenk gesäß oberschenkel knie kniegelenk kniekehle patella unterschenkel wade schienbein knöchel
außenknöchel innenknöchel sprunggelenk ferse fuß fuss vorfuß fußrücken fußsohle zehe großzehe bein
hoden penis vulva anus
"""
_SHORT: Final = "hws bws lws isg osg usg mcp pip dip os us oa ua"
_SITE: Final = re.compile(
    rf"(?<![\w-])(?:(?:{'|'.join(sorted(_STEMS.split(), key=len, reverse=True))})(?:e?s|en?|n|er)?"
    rf"|hände[n]?|füße[n]?|zähne[n]?|(?-i:{'|'.join(_SHORT.upper().split())}))(?![\w-])",
    re.IGNORECASE,
)


def sites_of(text: str) -> list[tuple[int, int]]:
    """The places (start, end in code points) of words for a part of the body, in order."""
    return [match.span() for match in _SITE.finditer(text)]
