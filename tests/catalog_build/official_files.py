"""Writes a small release in BfArM's own formats, so that a test can change one thing of it."""

import io
import zipfile
from pathlib import Path

YEAR = 2026
TAIL = ";1-002;2-001;3-003;4-002;001;9;9;9999;9999;9;N;J;N;N"
KAPITEL = ["04;Endokrine, Ernährungs- und Stoffwechselkrankheiten", "06;Krankheiten des Nervensystems", "22;Besonderes"]
GRUPPEN = ["E10;E14;04;Diabetes mellitus", "G00;G09;06;Entzündliche Krankheiten", "U60;U61;22;HIV-Stadien"]
KODES = [
    "3;N;X;04;E10;E11.-;E11;E11;Diabetes mellitus, Typ 2;Diabetes mellitus, Typ 2;;;V;V" + TAIL,
    "4;N;S;04;E10;E11.9-;E11.9;E119;Typ 2: Ohne Komplikationen;Typ 2;Ohne Komplikationen;;V;V" + TAIL,
    "5;T;S;04;E10;E11.90;E11.90;E1190;Typ 2: Nicht entgleist;Typ 2;Ohne;Nicht entgleist;P;P" + TAIL,
    "5;T;S;04;E10;E11.91;E11.91;E1191;Typ 2: Entgleist;Typ 2;Ohne;Entgleist;P;P" + TAIL,
    "4;T;X;04;E10;E11.8;E11.8;E118;Typ 2: Mit Komplikationen;Typ 2;Mit;;P;P"
    ";1-002;2-001;3-003;4-002;001;W;K;j010;t028;K;N;J;N;N",
    "3;T;X;06;G00;G01*;G01;G01;Meningitis bei bakteriellen Krankheiten;Meningitis;;;O;O" + TAIL,
    "3;N;X;22;U60;U61.-!;U61;U61;Anzahl der T-Helferzellen;Anzahl;;;V;V" + TAIL,
    "4;T;X;22;U60;U61.2!;U61.2;U612;Kategorie 2;Anzahl;Kategorie 2;;Z;Z" + TAIL,
]
ALPHAID = [
    "1|I1|E11.90|||||Altersdiabetes",
    "1|I2|E11.90|||||Zucker - s.a. Diabetes mellitus",
    "1|I3|E11.8+|G01*|||173|Diabetische Meningitis",
    "1|I4|||U61.2!|||Helferzellen vermindert",
    "1|I5|E11.91|||E11.8||Entgleister Zucker mit Komplikation",
    "0|I6|E11.90|||||Altersdiabetse",
]
ALPHABET = [
    "1|1|1|E11.90||||Alterszucker",
    "5|2|1|||U61.2!||200 bis 499 Helferzellen",
    "0|3|1|||||BWK - s. Brustwirbelsäule oder Brustwirbelkörper",
    "0|4|1|||||Bruch - s.a. Fraktur oder s.a. Hernie",
    "0|5|1|||||Card- - s. Kard-",
    "0|6|1|||||Abnorm - s. Art der Krankheit",
    "0|7|1|||||Aitken-Fraktur - kodiere kindliche Epiphysenfraktur nach Lokalisation",
]
CLASS = '<Class code="{code}" kind="category">{body}</Class>'


def claml(*classes: str, doctype: str = "", version: str = str(YEAR)) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}\n<ClaML version="2.0.0">\n'
        f'<Title date="2025-09-12" name="ICD-10" version="{version}">ICD</Title>\n'
        + "\n".join(classes)
        + "\n</ClaML>\n"
    )


def rubric(kind: str, label: str) -> str:
    return f'<Rubric kind="{kind}"><Label xml:lang="de-DE" xml:space="default">{label}</Label></Rubric>'


def text(lines: list[str], end: str = "\r\n", bom: bool = False) -> bytes:
    return (b"\xef\xbb\xbf" if bom else b"") + "".join(line + end for line in lines).encode()


def release(**changed: bytes | None) -> dict[str, bytes]:
    """Official names -> content. Keywords by role (kodes, gruppen, ...) replace a file; None leaves it out."""
    inside = "Klassifikationsdateien/icd10gm2026syst_"
    names = {
        "kodes": f"{inside}kodes.txt",
        "gruppen": f"{inside}gruppen.txt",
        "kapitel": f"{inside}kapitel.txt",
        "alphaid": "icd10gm2026_alphaidse_edvtxt_20250926.txt",
        "alphabet": "icd10gm2026alpha_edvtxt_20250926.txt",
        "claml": "Klassifikationsdateien/icd10gm2026syst_claml_20250912.xml",
    }
    notes = CLASS.format(code="E11", body=rubric("inclusion", "Alterszuckerkrankheit"))
    content: dict[str, bytes | None] = {
        "kodes": text(KODES),
        "gruppen": text(GRUPPEN),
        "kapitel": text(KAPITEL),
        "alphaid": text(ALPHAID),
        "alphabet": text(ALPHABET),
        "claml": claml(notes).encode(),
        **changed,
    }
    return {names[role]: data for role, data in content.items() if data is not None}


def folder(place: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    path.write_bytes(memory.getvalue())
    return path
