"""Abbreviations: full stops that mark a word cut off, not the end of a sentence.

A table of the abbreviations of letters ("chron. Pankreatitis"), and a rule for the rest ("mittelgr. Stenose"): where
nobody could end a German word, it was cut off.
"""

from __future__ import annotations

from typing import Final

from clinical.text.vocabulary import word_set

_KNOWN: Final = word_set(
    """z n v a d b st p dr prof med bzw ca ggf evtl inkl incl re li bds art chron rez akt anamn o u geb nr str tel usw
    etc sog vgl max min tgl bek unauff pat stat amb ausgepr beg klin path neg pos dist prox lat ventr entspr insb allg
    h koerperl diagn resp syst arter ven pulm kard hochgr mittelgr geringgr leichtgr schwergr degen diab bakt vs
    fr hr i s m sc iv po kontr bes zust exkl einschl voruebergeh jaehr jhr dipl univ abt ass oa mag lt
    gem traumat idiopath sek prim supp op post praeop postop rheumat thorak zerebr orth neurol psych lumb zerv
    rezid dekomp komp kompens hypertens hypert obstr restr insuff suff isch zerebrovask cerebr cerebrovask kardiol
    pulmon hepat nephr nephrol gastr gastroint intest neurolog psychiatr pathol radiol abdom thor cerv vertebr degener
    entzdl bakter vir allerg idiop sympt asympt sekund tert fragl unkl lokalis generalis metast insulinpfl diabet mell
    ehem atyp ggw gegenw persist parox paroxysm supravent ventrik multif spez unspez inkompl fortgeschr progr progred
    posttraum intraop periop kongen angeb erw histol zytol juv adip dors kran kaud sup inf ant ext motor sens
    vermutl wahrsch moegl mgl rheum steinl alkoh nikot ischaem hyperchol koron atheroskl arterioskl
    konserv operat symptomat thromb mikrobiol seb vulg sem mult konfig regelr regelm makr mikr konk atr
    vask vasc fem umbil ing diff dyn mech exog endog reakt subak intermitt kompl mittl unt
    od verd verdachtsdg verdachtsdiagn genit norm fam gest verst verh hw anh vaeterl muetterl"""
)
_SMALL: Final = word_set("mat ms ps sept")
"""Abbreviations in small letters only: "Oma ms. Darmkrebs", but "DD MS."."""
_VOWELS: Final = frozenset("aeiouy")
"""Without them: `bzgl`, `entspr`."""
_NO_END: Final = frozenset(
    one + two
    for ones, twos in (("bdfgkpstvwxz", "lr"), ("bdfgkpsvz", "mn"), ("m", "p"))
    for one in ones
    for two in twos
)
"""Two characters with which nothing German ends: `fragl`, `mittelgr`, `Diagn`, `dekomp`."""
_CUT: Final = (
    *("insuff", "erkr", "krankh", "entz", "entzuend", "synd", "hypertens"),
    *("stoer", "verletz", "karz", "syndr", "neurop", "kardiomyop", "stenos"),
)
"""Ends of compounds that are cut off: `Herzinsuff`."""


def is_abbreviation(word: str, raw: str) -> bool:
    """True if a spelled word before a full stop is cut off; `raw` is the word as written. An acronym in capitals
    ("BWS.") ends a sentence as any noun does."""
    if word in _KNOWN or len(word) == 1 or (word in _SMALL and raw.islower()):
        return True
    if len(word) < 3 or not raw[1:].islower():
        return False
    return word[-2:] in _NO_END or (word.endswith(_CUT) and word not in _CUT) or _VOWELS.isdisjoint(word)
