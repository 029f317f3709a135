"""Names of the labels and headings of letters: Swiss, German and Austrian forms, however they are punctuated.

A label is compared by its `key`: its alphabetic characters alone, in lower case, also those that a scan
took for digits. Knows no disease and no drug.
"""

from __future__ import annotations

import re

_NOT_LETTERS = re.compile(r"[^a-zäöüß]+")
_SCANNED = str.maketrans("10|", "lol")
_SHOUTED_I = re.compile(r"(?<=[a-zäöü])I(?![A-ZÄÖÜ])")
"""A scan's capital I within a word: `TeI.`."""
_AROUND = " :.-"
"""Marks that most often stand around a label."""
KEY_MAX = 60
"""Characters of the longest label or heading."""


def key(label: str) -> str:
    """`Geb.-Dat.` -> `gebdat`, `Te1.` -> `tel`, `Z u w e i s u n g` -> `zuweisung`."""
    plain = label[:KEY_MAX].strip(_AROUND)
    if plain.isascii() and plain.isalpha() and "I" not in plain:
        return plain.lower()  # what the patterns below would give, in a fraction of the time
    return _NOT_LETTERS.sub("", _SHOUTED_I.sub("l", label[:KEY_MAX]).lower().translate(_SCANNED)).replace("ß", "ss")


LABELS: dict[str, str] = {
    "nachname": "nachname name familienname zuname famname nachnamen",
    "vorname": "vorname vornamen vorn rufname",
    "patient": "patient patientin pat patientinpatient patienten patientdaten namevorname vornamename versicherte "
    "versicherter namepatient namedespatienten patientenname betrifftpatient namevornamedesversicherten dnpatient "
    "personalien kind ihrpatient ihrepatientin kunde klient klientin bewohner bewohnerin mitarbeiter mitarbeiterin "
    "arbeitnehmer arbeitnehmerin mitglied patname namedespatientin namederpatientin proband "
    "patientenetikett namevornamegebdatum namevornamegeburtsdatum klientinklient bewohnerinbewohner "
    "rehabilitand rehabilitandin versicherteperson untersuchteperson familiennamevorname zunamevorname "
    "nachnamevorname vornamenachname familiennamevornamen personaliendespatienten bewohnerinname "
    "versicherteversicherter klientenname ratsuchende ratsuchender patientetikette patientendaten "
    "patientenetikette patientenaufkleber",
    "betreff": "betreff betrifft betr re btr subject",
    "geburtsdatum": "geburtsdatum gebdatum gebdat geboren geborenam geb gebam geburtstag gebd gd jahrgang",
    "geschlecht": "geschlecht sex geschl mwd wmd mw wm geschlechtmwd",
    "anrede": "anrede",
    "adresse": "adresse anschrift wohnhaft wohnadresse wohnhaftin wohnanschrift postadresse wh adr anschr "
    "patientenadresse patadresse",
    "strasse": "strasse str strassenr strassehausnummer strassehausnr strassennummer",
    "wohnort": "plzort ort wohnort plzwohnort postleitzahlort",
    "plz": "plz postleitzahl",
    "versichertennummer": "ahvnr ahvnummer ahv ahvn versichertennummer versichertennr versnr versichertenr svnr "
    "svnummer sozialversicherungsnummer sozvnr kvnr kvnummer versicherungsnummer versicherungsnr policennummer "
    "policennr versichertenkarte versichertenkartennr versichertenkartennummer mitgliedsnummer vnr svn vsnr ahvsvnr "
    "krankenversichertennummer versichertennummerderkk verskartennr versicherungskartennr versicherungskartennummer",
    "fallnummer": "fallnummer fallnr fall fallzahl aufnahmenummer aufnahmezahl aufnahmezl aufnahmenr falld fallid "
    "behandlungsfall aufnnr fallnrspital fallnrklinik aufnahmenrfall falldnr",
    "versicherung": "versicherung krankenkasse kostenträger krankenversicherung kasse garant kk krankenversicherer "
    "versicherer vers versichertbei kostenträgerin krankenkassekostenträger "
    "grundversicherung krankenkassebzwkostenträger",
    "klasse": "versicherungsklasse klasse versicherungsart liegeklasse versicherungsstatus kl abteilungsklasse "
    "sonderklasse zusatzversicherung deckung vsklasse unterbringung kategorie versicherungsdeckung liegekategorie",
    "telefon": "tel telefon t fon telnr telefonnummer telefonnr telpraxis phone",
    "email": "email mail",
    "fax": "fax telefax faxnr mobil mobile natel handy telefonprivat telprivat telefonmobil",
    "datum": "datum den ausgestelltam erstelltam berichtsdatum zuweisungsdatum briefdatum ausstellungsdatum erstellt "
    "erfasst erfasstam angefordertam anforderungsdatum überweisungsdatum einweisungsdatum anmeldedatum befunddatum "
    "schreibdatum datumuhrzeit datumderzuweisung datumderanforderung datumderüberweisung "
    "datumdereinweisung datumderanmeldung datumuhrzeitderanforderung ortdatum tag "
    "datumunterschrift datumundunterschrift ortdatumunterschrift datumvisum dat",
    "eingang": "eingegangen eingang eingegangenam gesendet gesendetam datumeingang",
    "dringlichkeit": "dringlichkeit priorität triage prio dringlichkeitsstufe priorisierung terminart",
    "kostengutsprache": "kostengutsprache kogu kostenübernahme kostenzusage bewilligung genehmigung "
    "kostengutsprachestatus",
    "art": "aufenthalt aufnahmeart behandlungsart behandlung aufenthaltsart art behandlungsform setting",
    "fragestellung": "fragestellung grund bitteum wirbittenum ichbitteum frage fragestellungen konkretefrage "
    "zuweisungsgrund auftrag anliegen "
    "erbeten "
    "fragestellunghinweise fragestellunghinweisezballergie überweisungsgrund auftragfragestellung "
    "konkretefragestellung fragestellungauftrag ziel unserefrage unserefragen fragen fragendarzt erbetenwird "
    "grundderzuweisung frageankonsiliar fragenankonsiliar fragestellungankonsiliar frageandenkonsiliar "
    "anfragean bitte unserefragestellung zielderzuweisung zweckderzuweisung aufgabenstellung ersucheum "
    "ersuchenum wirersuchenum",
    "absender": "adressezuweiser adressedeszuweisers anschriftzuweiser adresseabsender "
    "vertragsarztstempelunterschriftdesarztes vertragsarztstempelunterschrift praxisstempel "
    "stempelundunterschrift unterschriftstempel zuweiser zuweiserin zuweisendestelle zuweisendeklinik "
    "zuweisendesspital zuweisendeärztinarzt "
    "vertragsarztstempel arztstempel überweisendestelle einweisendestelle auftraggebendestelle zuweisenderarzt "
    "zuweisendeärztin überweiser überweiserin "
    "absender einweisenderarzt anforderndeeinheit von angefordertvon auftraggeber zuweisendepraxis einweiser stempel "
    "überweisendepraxis überweisenderarzt zuweisendearztpraxis anfordernder zugewiesenvon zuweisung zuweiserangaben "
    "hausarzt hausärztin fürdiezuweisung zuweisungdurch anforderndestation anfordernderarzt "
    "anforderndeärztin anforderndeabteilung zugewiesendurch überwiesendurch überwiesenvon absenderin "
    "einsender anmeldendestelle verordnenderarzt verordnendeärztin zuweiserstempel "
    "einsenderin veranlasser "
    "autor autorin verfasser verfasserin berichterstatter heimarzt heimärztin notarzt notärztin einweisenderärztin "
    "zuweisende zuweisender überweisender überweisende einweisender anfordernde ha auftraggebendearztpraxis "
    "angemeldetdurch darzt dnarzt "
    "anfordernd anmelder anmeldendeinstitution anmeldendeklinik anmeldendesspital anmeldendeärztin anmeldenderarzt",
    "empfaenger": "empfangendestelle empfangendeklinik aufnehmendeklinik zugewiesenestelle zielpraxis "
    "konsiliararzt zielstelle zielabteilung zuhanden zuhändenvon gehtan gerichtetan abteilungklinik "
    "aufnehmendesspital aufnehmendeshaus adressiertan in zuhändender empfänger empfängerin an zuweisungan "
    "überweisungan überweisungin einweisungin adressat adressatin anmeldungan "
    "überweisungeinweisungin andie anden andas zielklinik zugewiesenan nächsterreichbaregeeignetekrankenhäuser "
    "nächsterreichbaresgeeigneteskrankenhaus anmeldungbei überweisungeinweisungan "
    "ergehtan angemeldetbei weiterbehandler weiterbehandelnderarzt",
    "praxis": "praxis institution klinik spital einrichtung praxisname ärztinarzt arzt ärztin arztärztin name "
    "haus krankenhaus spitalabteilung klinikabteilung krankenhausabteilung institutionabteilung",
}
"""Labels by what they name, as keys."""

OWNERS = {"patient": "patient", "betreff": "patient", "absender": "absender", "empfaenger": "empfaenger"}
"""Labels that begin a part of a form, and whose part it is."""

_REFERRING = "zuweisend überweisend einweisend anfordernd anmeldend verordnend auftraggebend beauftragend"
_REFERS = (
    "epraxis estelle eklinik eabteilung estation eeinrichtung einstitution eordination eärztin erarzt esspital eshaus"
)
"""`Einweisende Praxis`, `anforderndes Spital`: who refers, in every combination."""
_LABEL = {f"{one}{end}": "absender" for one in _REFERRING.split() for end in _REFERS.split()} | {
    word: field for field, words in reversed(LABELS.items()) for word in words.split()
}

_STARTS = frozenset(word[:2] for word in _LABEL)
"""The first two characters of every label: most of what is asked about is none."""

_WHEN = (
    "haupt|neben|entlass(?:ungs?)?|austritts?|aufnahme|einweisungs?|zuweisungs?|überweisungs?|dauer|grund|rehabilitations?|"
    "aktuelle[nr]?|bekannte|weitere|sonstige|bestehende|relevante|definitive|klinische|psychiatrische|somatische|"
    "internistische|onkologische|behandlungs|begleit|verdachts|arbeits|vor|wichtigste|unsere|chirurgische|und|u|oder|"
    "die|medizinische|neurologische|kardiologische|einzel|fach|stations|letzte|aktualisierte|zusammenfassende"
)
_DRUGS_WHEN = (
    "aktuelle|derzeitige|momentane|jetzige|bisherige|letzte|regelmässige|häusliche|haus|dauer|vor|eigen|fix|basis|"
    "bedarfs|entlass(?:ungs?)?|austritts?|aufnahme|eintritts?|einweisungs?|empfohlene|weitere|medikamentöse|unsere|"
    "verordnete|begleit|orale|vorbestehende|laufende|neue|heim|spital|stations|geplante|ständige|und|die"
)
_HEADINGS: tuple[tuple[str, str], ...] = (
    ("diagnosen", rf"(?:{_WHEN})*(?:diagnos(?:en?|enliste|eliste)|diagn|dg|dgn|dx)"
     r"(?:icd\w{0,12}|n|en|liste|colon|bei\w{0,12}|gastro\w{0,8})?"),
    ("diagnosen", r"(?:wirstellten|wirstelltenfolgende|folgende|esbestehenfolgende)diagnosen|vorerkrankungen"
     r"|problemliste|(?:relevante|bekannte|weitere)?(?:vor|neben|begleit|grund)?erkrankung(?:en)?|nebenbefunde|"
     r"diagnosenundprobleme"
     r"|hd|nd|vd|bekannt|bekanntist|(?:haupt|grund|neben|aktuelle)(?:leiden|problem\w{0,2})|(?:aktive|chronische|"
     r"medizinische|"
     r"aktuelle)?probleme?"
     r"|[kc]omorbidit(?:ät|äten|aeten)|(?:vor|begleit|neben|haupt|grund)?krankheit(?:en)?|diagnose(?:n)?beurteilung"
     r"|chronische(?:leiden|krankheiten)|verdacht(?:auf)?|bekanntediagnosen\w{0,12}"),
    ("medikation", rf"(?:{_DRUGS_WHEN})*(?:medi(?:k|lk)a?tion(?:en)?|medikamente?|medis?|medikamentenliste"
     r"|medikationsplan|medikamentenplan|arzneimittel|med|lokaltherapie|systemtherapie|system|medikamententherapie)"
     r"(?:(?:bei|während|im|zum|zur|der|am|vom|nach|vor|laut|gemäss|gem|aktuell|zuhause|in|stand|derzeit|bis|"
     r"für)\w{0,30})?"),
    ("medikation", r"tabletten|therapie(?:zu(?:r|m)?hause|daheim)|d(?=$)x|"
     r"dauertherapie|pharmakotherapie|heimtherapie|rx|medikamentös|"
        r"(?:aktuelle)?(?:medikamenten)?"
     r"verordnung(?:en)?|arzneien|(?:regelmässige)?medikamenteneinnahme|medikationsliste|entlassrezept|medis|therapie(?:dzt|derzeit|aktuell|momentan|zurzeit|laufend|bisher)"),
    ("medikation", r"bisherigemassnahmen(?:zbmedikation)?|(?:aktuelle|derzeitige|letzte|unsereletzte|medikamentöse|"
     r"entlassungs|bisherige|laufende|empfohlenemedikamentöse)(?:medikamentöse)?therapie"),
    ("empfehlung", r"(?:weitere|unsere)?therapie(?:empfehlun[gq](?:en)?|vorschla[gq]|vorschläge)(?:u|und)?"
     r"(?:pro[cz]edere?)?|empfohlene(?:weitere)?therapie|empfohlene(?:untersuchung(?:en)?|massnahmen)"
     r"|therapie(?:bei|nach)(?:entlassun[gq]|austritt)|therapieundpro[cz]edere?|empfohlenetherapiemassnahmen|"
     r"behandlungsempfehlung"),
    ("procedere", r"(?:weiteres|empfohlenes|geplantes|unser|vorgeschlagenes|post\w{0,12}|"
        r"therapeutisches)*(?:pro[cz]edere?|vorgehen)(?:u|und)?"
     r"(?:empfehlung(?:en)?|therapie)?|(?:weitere|unsere|ärztliche)?empfehlung(?:en)?(?:zumweiterenvorgehen|(?:zur|zum|"
     r"für(?:die|den|das)?|an(?:die|den))\w{4,24})?"
     r"|(?:post\w{0,12})?nachbehandlung|nachsorge|(?:weitere)?kontrollen?|kontrolltermine?|wiedervorstellung|po"
     r"|(?:weiterer)?behandlungsplan|weiterbehandlung|weiteremassnahmen|nächsteschritte|termine|pro[cz]|empf|"
     r"plan|therapieplan|vorschl(?:ag|äge)"
     r"|(?:nach|verlaufs|röntgen)kontrollen?|wirempfehlen|wirbittenum|vereinbart|(?:weitere)?planung|todo|"
     r"weiteres|vorgesehen"
     r"|unser(?:e)?vorschl(?:ag|äge)|wirschlagenvor|festgelegt|weitere(?:betreuung|behandlung)|"
     r"nachsorgeempfehlung(?:en)?"),
    ("therapie", r"therapie|th|ther|behandlung|massnahmen|therapieund(?:verlauf|verkauf)|durchgeführtetherapie"),
    ("eingriffe", r"(?:durchgeführte|operative|aktuelle|bisherige|frühere)?(?:operation(?:en)?|eingriffe?"
     r"|interventionen?|prozeduren?|op|ops|operationenundeingriffe|massnahmen)(?:(?:vom|am|und|diagnos|"
     r"histo)\w{0,30})?"
     r"|(?:durchgeführte)?prozedur(?:en)?|opverfahren|operativesvorgehen|operationsverfahren|chirurgischetherapie"
     r"|(?:frühere|bisherige|stattgehabte)(?:operationen|eingriffe)|op(?:erations)?datum(?:und)?(?:eingriff)?|"
     r"massnahmenop"
     r"|durchgeführte(?:massnahmen|leistungen|prozeduren|eingriffe)|operativetherapie|opdatum|voroperationen"),
    ("fragestellung", "|".join(LABELS["fragestellung"].split())),
)  # fmt: skip
_OTHER = (
    r"\w{0,24}anamnese|\w{0,24}befunde?(?:beiaufnahme|beieintritt)?|\w{0,16}verlauf(?:undtherapie)?|\w{0,20}status"
    r"(?:beiaufnahme|beieintritt|praesens)?|labor\w{0,24}|epikrise|\w{0,20}beurteilung|zusammenfassung(?:undverlauf)?"
    r"|allergien?|allergienunverträglichkeiten|vorgeschichte|krankengeschichte|ekg|ruheekg|langzeitekg|\w{0,8}röntgen"
    r"\w{0,16}|kontaktperson\w{0,12}|jetzigesleiden|beilagen?|anlagen?|histologie\w{0,10}|sonographie|sono\w{0,16}|"
    r"ct\w{0,20}"
    r"|mr|mr[ti]\w{0,20}|\w{0,24}graph?ie|\w{0,24}grafie|\w{0,24}skopie|aufnahmegrund|eintrittsgrund"
    r"|grundderaufnahme|untersuchungsergebnisse|untersuchung(?:en)?|körperliche\w{0,24}|bemerkung(?:en)?|bemerkungen"
    r"|begründung|soziales|\w{0,16}angaben|freitext|leistungen|diagnostik|\w{0,12}tests?|visusrefraktion|"
    r"risikofaktoren"
    r"|kontraindikationen|region|untersuchungsbefund|lokalbefund|neurologisch|psychopathologisch\w{0,10}|prognose|"
    r"systeme?"
    r"|transport|berichtan|kopiean?|kopie|verteiler|impfungen|noxen|gewicht|vitalparameter|vitalzeichen|spezielles"
    r"|\w{0,12}hilfsmittel|dekurs\w{0,20}|verlaufdertumorerkrankung|arbeitsunfähigkeit|mitgegebenebefunde|"
    r"begleitperson"
    r"|aufklärung|jetztaktuell|aktuell(?:es)?|hinweise?|ergebnis|technik|indikation|material|makroskopie|mikroskopie"
    r"|kommentar|score|skalen|assessment|ernährung|mobilität|rehabilitationsverlauf|"
    r"durchgeführterehabilitations\w{0,20}"
    r"|anamnestisch|echo\w{0,20}|lungenfunktion|ergometrie|notizen?|nacht|unterlagen|telefonat|interview|sozialdienst"
    r"|funktionsdiagnostik|bildgebung|mikrobiologie|pathologie|psychischerbefund|erstvorstellung|routinekontrolle"
    r"|zwischenanamnese|nebenwirkungen|reaktion|komplikationen|entlassungs?status|entlassungsbefund|austrittsstatus"
)
_ANY_HEADING = re.compile("|".join(f"(?P<g{n}>{pattern})" for n, (_, pattern) in enumerate(_HEADINGS)))
_FIELDS = {f"g{n}": field for n, (field, _) in enumerate(_HEADINGS)}
_OTHERS = re.compile(_OTHER)
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*")
_JOINED = re.compile(r"\s*[/&+]\s*|\s+(?:und|u\.|sowie)\s+")
_TAIL = re.compile(
    r"\s+(?=(?:bei|beim|nach|vom|am|ab|gemäss|gemäß|laut|lt\.|zum|zur|im|seit|der|des|zuhause|aktuell|derzeit|"
    r"per|durch)\b)"
)
TAIL_WORDS = 6
"""Words from which on a line that begins like a heading is a sentence."""
_OF_A_HOUSE = re.compile(r"ambulanz|klinik(?!$)|abteilung|institut|zentrum|praxis")


def label_of(text: str) -> str | None:
    """Return the field that a label names, or None."""
    start = text[:2].lower()
    if len(text) > KEY_MAX or (start.isalpha() and start not in _STARTS):
        return None
    word = key(text)
    found = _LABEL.get(word) or (_LABEL.get(key(_BRACKETED.sub("", text))) if "(" in text else None)
    found = found or (_LABEL.get(_umlauts(word)) if _SPELLED_OUT.search(word) else None)
    if found or "/" not in text:
        return found
    if (one := _LABEL.get(key(_EITHER_SEX.sub("", text)))) is not None:
        return one
    named = {_LABEL.get(key(half)) for half in text.split("/", maxsplit=2)}
    return named.pop() if len(named) == 1 else None  # `Zuweisende Ärztin / zuweisender Arzt`


_SPELLED_OUT = re.compile(r"[aou]e")
_EITHER_SEX = re.compile(r"/-?(?:innen|in|r|e|n)\b")
"""`Auftraggeber/in`, `Zuweisende/r`."""


def _umlauts(word: str) -> str:
    """`empfaenger` -> `empfänger`."""
    return word.replace("ae", "ä").replace("oe", "ö").replace("ue", "ü")


def heading_field(text: str) -> str | None:
    """The field whose section a heading begins, "" for another section, None for no heading."""
    if len(text) > KEY_MAX or "?" in text.rstrip("? "):
        return None  # a heading asks nothing
    word = key(text)
    if not word:
        return None
    if found := _ANY_HEADING.fullmatch(word):
        return _FIELDS[(found.lastgroup or "g0")]
    if len(word) < 3 or _OF_A_HOUSE.match(word):
        return None
    return "" if _OTHERS.fullmatch(word) else _of_parts(text)


def _of_parts(text: str) -> str | None:
    """`Befund / Medikation`, `Diagnosen (Stand heute)`, `Medikation ab 3.4.`: what the parts of a heading name."""
    if text.isalnum():
        return None  # one word has no parts
    bare = _BRACKETED.sub("", text).strip()
    if bare != text and key(bare):
        return heading_field(bare)
    parts = _JOINED.split(bare)
    if len(parts) > 1:
        named = [heading_field(part) for part in parts]
        if "fragestellung" in named:
            return "fragestellung"
        return None if None in named else next((one for one in named if one), "")
    head = _TAIL.split(bare, maxsplit=1)[0]
    if head != bare and len(bare.split()) < TAIL_WORDS and (found := _ANY_HEADING.fullmatch(key(head))):
        return _FIELDS[found.lastgroup or "g0"]
    return None


_NUMBERED_HEADING = re.compile(
    r"^(?:\d{1,2}[.)]?|[IVX]{1,4}[.)]|[A-Z][.)]|"
    r"[■▪►>*•§<\[-]+)\s*(.{2,60}?)[\s\]<>]*(:.*)?$"
)
_REPORTING = re.compile(
    r"(?:allgemeine|spezielle|aktuelle|klinischer?|sozial|berufs|und){0,3}(?:vorgeschichte|anamnese|epikrise|befunde?|"
    r"verlauf)"
)
"""Headings of a report's numbered parts that are no item of a list."""
_BULLETS = "-*•▪"
"""Marks of items: behind them a heading is a word or two."""


def bare_heading(text: str) -> str:
    """`2. Diagnosen`, `>> Diagnosen <<`: as a heading is written; any other line as it is."""
    numbered = _NUMBERED_HEADING.match(text)
    if numbered and text[0] in _BULLETS and not numbered[2] and len(numbered[1].split()) > 2:
        return text  # `- Röntgenkontrolle nach 6 Wochen` is an item
    if numbered and (heading_field(numbered[1]) or (text[0].isdigit() and _REPORTING.fullmatch(key(numbered[1])))):
        return numbered[1] + (numbered[2] or ":")
    return text


_RANKS = (
    (4, re.compile(r"entlass|austritt|empfohlen")),
    (3, re.compile(r"empfehlung|letzte|aktuell|derzeit|jetzig|momentan|laufend|neue")),
    (
        1,
        re.compile(
            r"eintritt|aufnahme|während|einweisung|bisherig|vorbestehend|häuslich|haus|(?:vor|eigen)medi|frühere"
        ),
    ),
)


def rank_of(title: str) -> int:
    """Rank of a list of drugs by the time its heading states: 4 at discharge, 3 today, 2 unnamed, 1 before or at
    admission."""
    word = key(title)
    return next((rank for rank, pattern in _RANKS if pattern.search(word)), 2)
