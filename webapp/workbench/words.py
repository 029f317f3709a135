"""The words that scripts show, in the language of the request: scripts hold none themselves."""

from typing import Any

from flask_babel import lazy_gettext as _l

SHARED = {  # what every page says while a call runs and when it fails
    "cancel": _l("Abbrechen"),
    "again": _l("Erneut versuchen"),
    "seconds": "s",
    "in_seconds": _l("in {n} s"),
    "signed_out": _l(
        "Sie sind nicht mehr angemeldet. Melden Sie sich in einem zweiten Tab an und versuchen Sie es erneut."
    ),
    "web": _l("Arbeitsplatz"),
    "web_lost": _l("Die Verbindung zum Arbeitsplatz ist unterbrochen."),
    "stopped": _l("Abgebrochen. Was schon da ist, gilt."),
    "copied": _l("Kopiert: {what}"),
    "not_copied": _l("Ihr Browser lässt das Kopieren nicht zu. Markieren Sie den Text und kopieren Sie ihn von Hand."),
    "not_text": _l("Dieses Dokument ist kein reiner Text und kann hier nicht gelesen werden."),
    "kept": _l("Ihr Text bleibt stehen."),
    "catalog_lost": _l("Der Katalog antwortet nicht."),
}
NOTES = {  # the kinds of notes of the classification, in the order they are shown
    "definition": _l("Definition"),
    "note": _l("Hinweis"),
    "text": _l("Hinweis"),
    "inclusion": _l("Schließt ein"),
    "exclusion": _l("Schließt aus"),
    "coding-hint": _l("Hinweis zur Kodierung"),
    "pair": _l("Gehört zusammen"),
}
MARKERS = {
    "confidence": {
        "high": _l("sehr wahrscheinlich richtig"),
        "medium": _l("wahrscheinlich richtig"),
        "low": _l("möglich"),
        "hand": _l("von Hand gewählt"),
    },
    "claims": {
        "present": _l("liegt vor"),
        "suspected": _l("Verdacht"),
        "history": _l("früher"),
        "excluded": _l("verneint"),
        "family": _l("Angehörige"),
    },
    "none": {
        "denied": _l("verneint: kein Kode"),
        "of-a-relative": _l("betrifft Angehörige"),
        "no-code-found": _l("kein Kode war sicher genug"),
        "not-a-diagnosis": _l("keine Diagnose"),
    },
    "certainty": {
        "G": _l("gesichert"),
        "V": _l("Verdacht"),
        "A": _l("ausgeschlossen"),
        "Z": _l("Zustand nach"),
    },
    "side": {"R": _l("rechts"), "L": _l("links"), "B": _l("beidseits")},
    "certainty_label": _l("Sicherheit"),
    "side_label": _l("Seite"),
}
CODING = {
    **SHARED,
    **MARKERS,
    "notes": NOTES,
    "tiers": {
        "1": _l("Suche im Katalog"),
        "2": _l("Auswahl durch das Sprachmodell"),
        "3": _l("Vertiefte Recherche"),
    },
    "tier": _l("Stufe {n} von 3"),
    "ready": _l("Fertig: alle drei Stufen."),
    "idle": _l("Tippen Sie, oder fügen Sie einen Text ein."),
    "part": _l("Text {n} von {all}"),
    "only_first": _l("nur aus Stufe {n}"),
    "accept": _l("Übernehmen"),
    "reject": _l("Verwerfen"),
    "alternatives": _l("Andere Kodes"),
    "close": _l("Schließen"),
    "undone": _l("Zurückgenommen."),
    "nothing_to_undo": _l("Es gibt nichts zurückzunehmen."),
    "accepted": _l("übernommen"),
    "rejected": _l("verworfen"),
    "instead": _l("statt {code}"),
    "more_specific": _l("Genauer möglich, wenn der Text es hergibt:"),
    "together": _l("Gehört zusammen:"),
    "not_terminal": _l("nicht endständig: nicht abrechenbar"),
    "above": _l("Darüber"),
    "below": _l("Darunter"),
    "beside": _l("Daneben"),
    "no_codes": _l("Kein Kode war sicher genug, um ihn vorzuschlagen."),
    "without_code": _l("Ohne Kode"),
    "nothing_accepted": _l("Noch nichts übernommen."),
    "texts_done": _l("{texts} Texte fertig, {codes} Kodes"),
    "nothing_to_copy": _l("Noch nichts übernommen, es gibt nichts zu kopieren."),
    "no_next": _l("Das war der letzte Text. Das Textfeld ist leer für den nächsten."),
    "found_none": _l("Kein Kode mit diesen Worten."),
}


def spoken(words: Any) -> Any:
    """The same tree in the language of this request, as JSON can hold it."""
    return {name: spoken(word) for name, word in words.items()} if isinstance(words, dict) else str(words)
