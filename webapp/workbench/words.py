"""The words that scripts show, in the language of the request: scripts hold none themselves."""

from typing import Any

from flask_babel import lazy_gettext as _l

from clinical.contract import words_of_fields

SHARED = {  # what every page says while a call runs and when it fails
    "cancel": _l("Abbrechen"),
    "unusual": _l("Es dauert ungewöhnlich lange. Sie können abbrechen; der Text bleibt stehen."),
    "again": _l("Erneut versuchen"),
    "seconds": "s",
    "in_seconds": _l("in {n} s"),
    "signed_out": _l("Ihre Sitzung ist beendet."),
    "sign_in_again": _l("Melden Sie sich in einem zweiten Tab an, und versuchen Sie es dann hier erneut."),
    "sign_in": _l("Anmelden"),
    "web": _l("Arbeitsplatz"),
    "web_down": _l("Er antwortet gerade nicht. Versuchen Sie es in einer Minute erneut."),
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
        "of-somebody-else": _l("betrifft jemand anderen"),
        "hypothetical": _l("geplant oder befürchtet"),
        "said-more-precisely": _l("steht an anderer Stelle genauer"),
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
    "nothing_to_undo": _l("Zu diesem Text gibt es keine Entscheidung zurückzunehmen."),
    "accepted": _l("übernommen"),
    "rejected": _l("verworfen"),
    "instead": _l("statt {code}"),
    "more_specific": _l("Genauer möglich, wenn der Text es hergibt:"),
    "together": _l("Gehört zusammen:"),
    "join": _l("{code} mitkodieren"),
    "stale": _l("aus dem geänderten Text nicht mehr"),
    "gone": _l("Nicht mehr im Ergebnis, weil der Text sich geändert hat: {codes}"),
    "not_terminal": _l("nicht endständig: nicht abrechenbar"),
    "above": _l("Darüber"),
    "below": _l("Darunter"),
    "beside": _l("Daneben"),
    "no_codes": _l("Kein Kode war sicher genug, um ihn vorzuschlagen."),
    "without_code": _l("Ohne Kode"),
    "nothing_accepted": _l("Noch nichts übernommen."),
    "texts_done": _l("weitere Texte: {texts} mit {codes} Kodes"),
    "nothing_to_copy": _l("Noch nichts übernommen, es gibt nichts zu kopieren."),
    "no_next": _l("Das war der letzte Text. Das Textfeld ist leer für den nächsten; P führt zurück."),
    "found_none": _l("Kein Kode mit diesen Worten."),
}

EXTRACTION = {
    **SHARED,
    "letter": _l("Brief"),
    "letter_edited": _l("Der Brief wurde geändert, seit er gelesen wurde. Die Felder zeigen den Stand davor."),
    "no_date": _l("Diesen Tag gibt es nicht, oder er liegt in der Zukunft. Erwartet wird TT.MM.JJJJ."),
    "nothing_read": _l("Noch ist nichts gelesen."),
    "values": {
        "": "",
        "m": _l("männlich"),
        "w": _l("weiblich"),
        "allgemein": _l("allgemein"),
        "halbprivat": _l("halbprivat"),
        "privat": _l("privat"),
        "stationaer": _l("stationär"),
        "ambulant": _l("ambulant"),
        "liegt_vor": _l("liegt vor"),
        "beantragt": _l("beantragt"),
        "wird_eingeholt": _l("wird eingeholt"),
        "notfall": _l("Notfall"),
        "dringlich": _l("dringlich"),
        "elektiv": _l("elektiv"),
    },
    "reads": _l("Das Sprachmodell liest den Brief, danach wird jeder Wert geprüft"),
    "too_long": _l("{n} Zeichen; höchstens {most}."),
    "counted": _l("{n} Werte, {removed} entfernt, {review} zu prüfen"),
    "absent": _l("Nicht im Brief"),
    "silent": _l("Nicht erwähnt: {names}"),
    "edited": _l("von Ihnen geändert"),
    "review": _l("Bitte prüfen:"),
    "removed": _l("Entfernt:"),
    "no_evidence": _l("Im Brief steht nirgends:"),
    "denied": _l("Der Brief verneint das ausdrücklich."),
    "undone": _l("Zurückgenommen."),
    "nothing_to_undo": _l("Es gibt nichts zurückzunehmen."),
    "match": {
        "exact": _l("steht wörtlich im Brief"),
        "normalised": _l("steht in anderer Schreibweise im Brief"),
        "overlap": _l("steht mit diesen Wörtern im Brief"),
        "keyword": _l("folgt aus einem Stichwort"),
        "date": _l("Datum im Brief"),
        "digits": _l("Ziffern im Brief"),
    },
    "support": {
        "label": _l("mit Bezeichnung"),
        "block": _l("im passenden Abschnitt"),
        "salutation": _l("in der Anrede"),
        "neighbourhood": _l("neben Verwandtem"),
    },
    "fields": {name: _l(word) for name, word in words_of_fields().items()},
}
DRAFTING = {
    **SHARED,
    "drafts": _l("Das Sprachmodell schreibt"),
    "drafted": _l("Der Entwurf ist da."),
    "draft_left": _l("Der Entwurf zum vorigen Text ist zurückgelegt."),
    "draft_line": _l("ENTWURF, nicht am Text geprüft"),
    "too_long": _l("{n} Zeichen; höchstens {most}."),
    "nothing_to_undo": _l("Es gibt nichts zurückzunehmen."),
}


def spoken(words: Any) -> Any:
    """The same tree in the language of this request, as JSON can hold it."""
    return {name: spoken(word) for name, word in words.items()} if isinstance(words, dict) else str(words)
