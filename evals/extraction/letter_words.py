"""The invented words that generated letters are made of: people, places, institutions, diseases, drugs. Nobody real."""

from __future__ import annotations


def _words(words: str) -> list[str]:
    return words.split()


FIRST_W = _words("""
Anna Beate Claudia Dorothea Elisabeth Franziska Gerda Heidi Ingrid Johanna Katharina Léonie Margrit Noëlle
""")
FIRST_M = _words("""
Albert Beat Christoph Dieter Emil Fridolin Gottfried Hans-Peter Ivo Jürg Konrad Lukas Matthias Noah Urs
""")
LAST = _words("""
Mustermann Meier Meierhofer Müller-Lüdi Österreicher Weissenberger Hürlimann Kern Baumgärtner Grössl Huber
Zurbriggen Steinbichler Amrein Ljubic Petrović Kägi Schönenberger Pfister Brändli Wagenknecht Tannhäuser
Obermoser Straub Ruckstuhl Eberharter Lindenthal Kranz Vögtlin Burri
""")
STREETS = _words("""
Lindenweg Hauptstrasse Bahnhofstrasse Gartenstraße Schulgasse Rosenweg Kirchplatz Seestrasse Birkenallee
Mühlebachstrasse Ringstraße Am-Stein-Weg Feldgasse Talackerstrasse
""")
PLACES = {
    "ch": (("8006", "Zürich"), ("3011", "Bern"), ("9000", "St. Gallen"), ("4051", "Basel"), ("8400", "Winterthur")),
    "de": (
        ("47809", "Krefeld"),
        ("20095", "Hamburg"),
        ("80331", "München"),
        ("35745", "Herborn"),
        ("04109", "Leipzig"),
    ),
    "at": (("1090", "Wien"), ("6020", "Innsbruck"), ("8010", "Graz"), ("5020", "Salzburg"), ("4020", "Linz")),
}
HOSPITALS = {
    "ch": ("Kantonsspital Lindenau", "Spital Seeblick", "Privatklinik Rosenhof", "Regionalspital Talgrund"),
    "de": ("Klinikum Lindenau", "St.-Georg-Krankenhaus", "Universitätsklinikum Neustadt", "Rehaklinik Waldhof"),
    "at": ("Landesklinikum Donauau", "Krankenhaus der Stadt Bergheim", "LKH Talheim", "Privatklinik Sonnhof"),
}
PRACTICES = ("Hausarztpraxis am Brunnen", "Praxis Dr. Lindt", "Gruppenpraxis Seefeld", "Ärztezentrum Nord")
DEPARTMENTS = (
    "Klinik für Innere Medizin", "Klinik für Unfallchirurgie", "Abteilung für Kardiologie", "Medizinische Klinik",
    "Orthopädische Klinik", "Klinik für Allgemeine Chirurgie", "Abteilung für Neurologie",
)  # fmt: skip
TITLES = ("Dr. med.", "Prof. Dr. med.", "PD Dr. med.", "Dr.", "Dr. med. univ.")
INSURERS = {
    "ch": ("Helvita", "CSS Muster", "Sanavida", "Concordia Muster"),
    "de": ("AOK Musterland", "Techniker Muster", "Barmer Muster", "IKK Beispiel"),
    "at": ("ÖGK Muster", "BVAEB Muster", "SVS Muster"),
}
DIAGNOSES = (
    "Arterielle Hypertonie", "Diabetes mellitus Typ 2", "Chronische Niereninsuffizienz Stadium G3a",
    "Gonarthrose rechts", "Coxarthrose links", "Koronare 3-Gefässerkrankung", "COPD GOLD II", "Vorhofflimmern",
    "Herzinsuffizienz NYHA III", "Fraktur distaler Radius links", "Pneumonie rechter Unterlappen",
    "Z. n. Appendektomie 2011", "St. n. Cholezystektomie 2008", "Hypothyreose", "Adipositas Grad I",
    "Lumboradikuläres Schmerzsyndrom L5 rechts", "Symptomatische Cholezystolithiasis", "Prostatakarzinom",
    "V. a. Polymyalgia rheumatica", "Rezidivierende depressive Störung", "Obstruktives Schlafapnoesyndrom",
    "Mammakarzinom links", "Osteoporose", "Karpaltunnelsyndrom beidseits", "Hypercholesterinämie",
    "Leistenhernie rechts", "Meniskusläsion medial links", "Paroxysmales Vorhofflimmern",
    "Tiefe Beinvenenthrombose links",
)  # fmt: skip
DRUGS = (
    ("Ramipril", "5 mg"), ("Metoprolol", "47,5 mg"), ("Aspirin cardio", "100 mg"), ("Metformin", "1000 mg"),
    ("Pantoprazol", "40 mg"), ("Torasemid", "10 mg"), ("Atorvastatin", "20 mg"), ("Bisoprolol", "2,5 mg"),
    ("Amlodipin", "5 mg"), ("Levothyroxin", "75 µg"), ("Apixaban", "5 mg"), ("Novalgin", "500 mg"),
    ("Vitamin D3", "800 IE"), ("Insulin glargin", "12 IE"), ("Paracetamol", "1 g"), ("Candesartan", "8 mg"),
)  # fmt: skip
SCHEMES = ("1-0-0", "1-0-1", "0-0-1", "1-1-1", "1/2-0-0", "1-0-0-0", "bei Bedarf", "")
PROCEDURES = (
    "Knietotalprothese rechts", "Laparoskopische Cholezystektomie", "Koronarangiographie",
    "Plattenosteosynthese Radius links",
    "Kniearthroskopie links", "Hüfttotalendoprothese links", "Elektrokardioversion", "Leistenhernienoperation rechts",
    "Gastroskopie", "Bronchoskopie",
)  # fmt: skip
PROCEDERE = (
    "Kontrolle beim Hausarzt in 2 Wochen", "Fadenentfernung am 12. Tag", "Physiotherapie 2x wöchentlich",
    "Teilbelastung mit 15 kg für 6 Wochen", "Röntgenkontrolle nach 6 Wochen", "Blutdruckkontrollen zu Hause",
    "Laborkontrolle in 10 Tagen", "Wiedervorstellung bei Beschwerden", "Thromboseprophylaxe für 4 Wochen",
)  # fmt: skip
QUESTIONS = (
    "Operationsindikation?", "Beurteilung und Therapieempfehlung", "Abklärung der Belastungsdyspnoe",
    "Mitbeurteilung und Übernahme der Behandlung", "Koronarangiographie erforderlich?", "Infiltration L5 rechts?",
)  # fmt: skip
DENIED = (
    "Kein Hinweis auf Lungenembolie.", "Eine Sepsis konnte ausgeschlossen werden.", "Keine Zeichen einer Meningitis.",
    "Ein Myokardinfarkt wurde nicht nachgewiesen.", "Kein Anhalt für Malignom oder Tuberkulose.",
)  # fmt: skip
DENIED_DISEASES = ("Lungenembolie", "Sepsis", "Meningitis", "Myokardinfarkt", "Tuberkulose")
FAMILY = (
    "Vater: Kolonkarzinom.", "FA: Mutter mit Epilepsie.", "Der Bruder verstarb an einem Pankreaskarzinom.",
    "Familienanamnese: Schlaganfall der Grossmutter, Multiple Sklerose der Schwester.",
)  # fmt: skip
FAMILY_DISEASES = ("Kolonkarzinom", "Epilepsie", "Pankreaskarzinom", "Schlaganfall", "Multiple Sklerose")
STAYS = {
    "stationaer": ("stationäre Aufnahme", "stationäre Behandlung", "stationären Aufenthalt"),
    "ambulant": ("ambulante Abklärung", "ambulante Behandlung", "ambulante Beurteilung"),
}
CLASSES = {
    "allgemein": ("allgemein versichert", "Versicherungsklasse: allgemein", "Klasse: allgemein"),
    "halbprivat": ("halbprivat versichert", "Versicherungsklasse: halbprivat", "Klasse: halbprivat"),
    "privat": ("privat versichert", "Versicherungsklasse: privat", "Klasse: privat"),
}
URGENCIES = {
    "notfall": ("Zuweisung als Notfall.", "Dringlichkeit: Notfall", "Notfallmässige Zuweisung."),
    "dringlich": ("Wir bitten um eine dringliche Beurteilung.", "Dringlichkeit: dringlich", "Priorität: dringlich"),
    "elektiv": ("Elektiver Eintritt.", "Dringlichkeit: elektiv", "Die Zuweisung erfolgt elektiv."),
}
COSTS = {
    "liegt_vor": ("Die Kostengutsprache liegt vor.", "Kostengutsprache: liegt vor", "KoGu erteilt."),
    "beantragt": ("Die Kostengutsprache wurde beantragt.", "Kostengutsprache: beantragt", "KoGu ist beantragt."),
    "wird_eingeholt": (
        "Die Kostengutsprache wird eingeholt.", "Kostengutsprache: wird eingeholt", "KoGu wird durch uns eingeholt.",
    ),
}  # fmt: skip
NO_URGENCY = ("Wir bitten um einen Termin.", "Kein Notfall.", "Bitte um baldige Terminvereinbarung.")
NO_COSTS = ("Die Kostengutsprache liegt noch nicht vor.", "Kostengutsprache offen.", "")
KINDS = {
    "zuweisung": ("Zuweisung", "Überweisung", "Zuweisungsschreiben", "Einweisung"),
    "arztbrief": ("Austrittsbericht", "Entlassungsbrief", "Arztbrief", "Entlassungsbericht", "Ambulanzbericht"),
}
MONTHS = _words("""
Januar Februar März April Mai Juni Juli August September Oktober November Dezember
""")
