"""Invented texts to try the workbench with: a list of diagnoses, a letter, and one instruction."""

LIST = "Arterielle Hypertonie, Diabetes mellitus Typ 2, Hypothyreose\nV. a. Pneumonie rechts\nGonarthrose links"
LETTER = """\
Arztbrief vom 3. März 2026

Klinikum am Beispielplatz, Innere Medizin
An: Praxis Dr. med. Berta Beispiel

Patientin: Erika Musterfrau, geb. 12.08.1957
Lindenweg 3, 12345 Beispielstadt
Aufenthalt: stationär

Diagnosen:
- Arterielle Hypertonie
- Diabetes mellitus Typ 2
- V. a. Pneumonie rechts
- Z. n. Hinterwandinfarkt 2019
- Kein Anhalt für eine Lungenembolie

Medikation:
- Ramipril 5 mg 1-0-0
- Metformin 1000 mg 1-0-1

Procedere:
- Kontrolle des Blutzuckers in zwei Wochen

Mit freundlichen Grüßen
Dr. med. Anna Muster
"""
INSTRUCTION = "Fasse den Brief in drei Sätzen für die Patientin zusammen, in einfacher Sprache."
