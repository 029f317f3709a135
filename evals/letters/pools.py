"""Values for generated letters: names of people, hospitals, streets, places, diseases, drugs. Nobody real.

Names are drawn to be hard: surnames that are towns, professions or first names, doubled, noble, foreign and short ones.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.replace("\n", " ").split(",") if one.strip())


WOMEN = _words("""
Anna, Beatrix, Thuy Linh, Ngozi, Aoife, Hannelore, Marie-Theres, Ursina, Gül, Svetlana, Rosmarie, Frida, Heike, Solvej,
Dragana, Vreni, Friederike, Elif, Oda, Kornelia, Sundari, Annegret, Zoë, Wilhelmine, Roswitha Maria, Mechthild, Leila,
Jutta, Ivana, Traudl, Noor, Chantal, Irmgard, Amélie, Petronella, Gesine, Hedwig, Tabea, Ilse-Lore, Magdalena
""")
MEN = _words("""
Heinz-Peter, Bashkim, Karl Friedrich, Olaf, Tewodros, Ueli, Reto, Alois, Mehmet, Jan-Ole, Siegbert, Quoc Bao, Ansgar,
Ruedi, Piotr, Giuseppe, Hartmut, Leopold, Ferdinand, Wolfgang, Nils, Nurettin, Kaspar, Emil, Matthias, Lothar, Tariq,
Björn, Gianluca, Hubert, Xaver, Detlef, Miloš, Jonas, Valentin, Eckhard, Samuel, Yannick, Torsten, Rolf
""")
SURNAMES = _words("""
Kern, Berlin, Wiener, Bremer, Bäcker, Richter, Schultheiß, Apotheker, Vogt, Basler, Nguyen, O'Brien, D'Angelo, El
Mansouri,
von der Heyde, von Allmen, van den Berg, Freiherr von Stetten, zu Dohna, Da Silva, dos Santos Pereira, Müller-Lüdi,
Bachmann-Escher, Schmidt-von Hagen, Ey, Utz, Oh, Yıldız, Đorđević, Szczepański, Krasniqi, Hoxha, Ott, Fuß, Kaiser, Arzt,
Sommer, Mai, Freitag, Klein, Lang, Frisch, Gut, Zeitlhofer, Hinteregger, Moosbrugger, Zgraggen, Abderhalden, Caduff,
Oesterle, Wąsik, Papadopoulos, Okonkwo, Haile, Rüdisüli, Tschudi, Bierbichler, Hasenöhrl, Kratochwil, Nepomuceno,
Teichgräber, Brinkmöller, Kühlewind, Ohnesorg, Rothenfußer, Blocher-Infanger, Grubenmann, Lindqvist, Haas, Stein
""")
FIRST_AS_SURNAME = _words("Peter, Werner, Ulrich, Simon, Heinrich, Jakob, Ernst, Franz, Arnold, Thomas")
"""Surnames that are first names: only where the letter itself tells which is which."""
DOCTORS = _words("""
Immenroth, Kattwinkel, Zumstein, Obrist, Lottermann, Gruber-Neuwirth, Seydlitz, Hallmann, Pieringer, Camathias, Dörig,
Wachholz, Achtermann, Pollak, Trattner, Ransmayr, Steiger, Fässler, Kurzbein, Aldinger, Sawatzki, Wyttenbach, Ungerböck,
Overkamp, Schleiermacher, Tannhauser, Bolliger, Grinzinger, Hildebrandt, Krebs, Spital, Winter
""")
TITLES = {
    "ch": ("Dr. med.", "Dr. med.", "Prof. Dr. med.", "PD Dr. med.", "med. pract.", "Dr. med. et phil."),
    "de": ("Dr. med.", "Dr. med.", "Dr.", "Prof. Dr. med.", "Priv.-Doz. Dr. med.", "Dipl.-Med."),
    "at": ("Dr.", "Dr. med. univ.", "Prim. Dr.", "OA Dr.", "MR Dr.", "Univ.-Prof. Dr.", "DDr.", "Ass.-Prof. Dr."),
}
HOSPITALS = {
    "ch": ("Spital Oberfeld", "Kantonsspital Reusstal", "Klinik Sonnmatt AG", "Regionalspital Emmenau",
           "Privatklinik Bellavista", "Kinderspital Aareblick"),
    "de": ("Klinikum Wesertal", "St. Vinzenz-Krankenhaus Ahlde", "Universitätsklinikum Hohenmark",
           "Kreiskrankenhaus Tannrode gGmbH", "Fachklinik Dünenhof", "Asklepios Klinik Birkenwerder"),
    "at": ("Landeskrankenhaus Steinfeld", "LKH Hochtal", "Krankenhaus der Barmherzigen Schwestern Ried",
           "Klinik Donauwörth-Au", "Privatklinik Wienerhöhe", "Landesklinikum Thayaegg"),
}  # fmt: skip
PRACTICES = {
    "ch": ("Praxis am Bach", "Hausarztzentrum Mülital", "Gruppenpraxis Lindenhof AG", "Medix Praxis Seewen",
           "Arztpraxis Dorfplatz"),
    "de": ("Gemeinschaftspraxis am Deich", "MVZ Nordring GmbH", "Hausarztpraxis Lerchenfeld", "Praxis an der Oker",
           "Praxisklinik Westend"),
    "at": ("Ordination am Hauptplatz", "Gruppenpraxis Pöllau OG", "Ärztezentrum Vorau", "Primärversorgungszentrum Enns",
           "Facharztordination Linzer Tor"),
}  # fmt: skip
DEPARTMENTS = {
    "ch": ("Klinik für Innere Medizin", "Departement Chirurgie", "Klinik für Orthopädie und Traumatologie",
           "Kardiologie", "Frauenklinik", "Interdisziplinäre Notfallstation"),
    "de": ("Medizinische Klinik II", "Klinik für Unfallchirurgie", "Abteilung für Gefäßchirurgie",
           "Klinik für Neurologie mit Stroke Unit", "Zentrale Notaufnahme", "HNO-Klinik"),
    "at": ("Abteilung für Innere Medizin", "Interne Abteilung", "Abteilung für Unfallchirurgie",
           "Abteilung für Neurologie", "Chirurgische Abteilung", "Erstversorgungsambulanz"),
}  # fmt: skip
STREETS = {
    "ch": ("Dorfstrasse", "Obere Gasse", "Im Grund", "Seestrasse", "Chratzweg", "Via Sut", "Bahnhofplatz"),
    "de": ("Lange Straße", "Am Deich", "Bgm.-Smidt-Str.", "Kirchhofsweg", "Ostring", "Zum Alten Speicher", "Allee"),
    "at": ("Hauptstraße", "Linzer Gasse", "Am Tabor", "Josef-Haydn-Gasse", "Siedlungsweg", "Kirchenplatz", "Unterdorf"),
}
PLACES = {
    "ch": (("6460", "Oberfeld"), ("8704", "Seewen am See"), ("3472", "Mülital"), ("7130", "Glaris"),
           ("9050", "Weissbad"), ("5400", "Reusstal"), ("1700", "Freienburg")),
    "de": (("26789", "Ahlde"), ("01998", "Tannrode"), ("30998", "Lerchenfeld"), ("48999", "Bad Dünen"),
           ("72199", "Hohenmark"), ("99998", "Neustadt an der Oker"), ("21998", "Birkenwerder")),
    "at": (("2199", "Steinfeld"), ("8225", "Pöllau bei Hartberg"), ("6199", "Hochtal"), ("4499", "Enns-Au"),
           ("1999", "Wienerhöhe"), ("3999", "Thayaegg"), ("9999", "St. Jakob im Lesachtal")),
}  # fmt: skip
INSURERS = {
    "ch": ("CSS", "Helsana", "Swica", "Sanitas", "Visana", "Concordia", "Assura", "Atupri", "ÖKK", "KPT"),
    "de": ("AOK Plus", "Techniker Krankenkasse", "BARMER", "DAK-Gesundheit", "IKK classic", "KKH", "Debeka", "HEK",
           "mhplus BKK", "AOK Niedersachsen"),
    "at": ("ÖGK", "BVAEB", "SVS", "KFA", "ÖGK", "ÖGK"),
}  # fmt: skip
DIAGNOSES = _words("""
Akute Cholezystitis; Hypertensive Herzkrankheit; Permanentes Vorhofflimmern; Femoroazetabuläres Impingement rechts;
Diabetes mellitus Typ 2; Chronische Niereninsuffizienz Stadium G3b; Akute Pankreatitis biliärer Genese; COPD GOLD 3;
Distale Radiusfraktur links; Hypothyreose; Rotatorenmanschettenruptur rechts; Mammakarzinom links pT2 pN1 M0;
Lumbale Spinalkanalstenose L4/5; Benigne Prostatahyperplasie; Eisenmangelanämie; Rezidivierende depressive Störung;
Periphere arterielle Verschlusskrankheit IIb beidseits; Hiatushernie; Gonarthrose links; Migräne ohne Aura;
Tiefe Beinvenenthrombose rechts; Divertikulitis des Sigmas; Obstruktives Schlafapnoesyndrom; Polymyalgia rheumatica;
Osteoporose; Morbus Parkinson; Chronische Sinusitis maxillaris; Ulcus cruris venosum rechts; Adipositas Grad II;
Arterielle Hypertonie; Hyperlipidämie; Pneumonie im rechten Unterlappen; Mitralklappeninsuffizienz Grad II
""".replace(",", " ").replace(";", ","))  # fmt: skip
DRUGS = _words("""
Ramipril 5 mg 1-0-0; Bisoprolol 2.5 mg 1-0-1; Eliquis 5 mg 1-0-1; Metformin 1000 mg 1-0-1; Torasemid 10 mg 1-0-0;
Pantoprazol 40 mg 1-0-0; L-Thyroxin 75 µg 1-0-0; Novalgin 500 mg bei Bedarf; Atorvastatin 40 mg 0-0-1; Lantus 18 IE
abends;
Spiriva 18 µg 1-0-0; ASS 100 mg 1-0-0; Candesartan 8 mg 1-0-0; Amlodipin 5 mg 0-0-1; Sertralin 50 mg 1-0-0;
Vitamin D3 800 IE 1-0-0; Enoxaparin 40 mg s.c. 0-0-1; Prednisolon 5 mg 1-0-0; Dafalgan 1 g 1-1-1; Levodopa 100 mg 1-1-1;
Forxiga 10 mg 1-0-0; Tamsulosin 0.4 mg 0-0-1; Xarelto 20 mg 0-0-1; Allopurinol 100 mg 1-0-0
""".replace(";", ","))  # fmt: skip
OPERATIONS = _words("""
Laparoskopische Cholezystektomie; Hüft-TEP rechts; Koronarangiographie mit PTCA und Stent der RCA; Kniearthroskopie
links;
Plattenosteosynthese distaler Radius; TUR-Prostata; Gastroskopie; Mikrochirurgische Dekompression L4/5;
Elektrokardioversion;
Sectio caesarea; Tonsillektomie beidseits; Varizenstripping rechts; Sigmaresektion; Schilddrüsenresektion links;
Katarakt-Operation rechts; Wunddébridement am Unterschenkel; Lumbalpunktion; Schrittmacherimplantation
""".replace(";", ","))  # fmt: skip
STEPS = _words("""
Fadenentfernung am 12. postoperativen Tag; Klinische Kontrolle in 6 Wochen; Physiotherapie ambulant; Laborkontrolle
in zwei
Wochen; Wundkontrolle alle zwei Tage; Belastungsaufbau nach Massgabe der Beschwerden; Röntgenkontrolle nach 6 Wochen;
Kardiologische Kontrolle in 3 Monaten; Thromboseprophylaxe bis zur Vollbelastung; Gewichtskontrolle täglich;
Wiedervorstellung bei Beschwerden jederzeit; Sonographiekontrolle in 6 Monaten; Blutzuckertagesprofil beim Hausarzt;
Arbeitsunfähigkeit bis Monatsende; Anmeldung zur Rehabilitation ist erfolgt
""".replace("\n", " ").replace(";", ","))  # fmt: skip
QUESTIONS = (
    "Indikation zur Operation?", "Weiteres Procedere?", "Abklärung und Therapievorschlag?", "Ausschluss Malignität?",
    "Mitbeurteilung der Herzinsuffizienz?", "Koronare Herzkrankheit?", "Infiltration möglich?",
    "Übernahme der weiteren Betreuung?",
)  # fmt: skip
