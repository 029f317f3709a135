"""What hospitals, practices, their departments and the people who lead them are called."""

from __future__ import annotations

import re

HOUSE = re.compile(
    r"spital|krankenhaus|klinikum|landesklinik|hospital\b|zentrum\b|praxis|\bLKH\b|\bMVZ\b|\bMRZ\b|ambulatorium|"
    r"sanatorium|\bdienste\b|\brentenversicherung\b|berufsgenossenschaft|unfallkasse|gesundheitsamt|"
    r"medizinischer dienst|"
    r"verbund|\be\.\s?V\.|\bAG\b|\bGmbH\b|\bSpitex|\bHeim\b|pflegeheim|zentrale\b|\bpoliklinik\b|\bcharité\b|"
    r"\bNetz\b|netz\s|"
    r"ospedale|hôpital|krankenanstalt|\bstift\b|\bStudio medico|\bkurhaus|\bInselspital|privatklinik|"
    r"rehaklinik|clinique|clinica|"
    r"ordination\b",
    re.IGNORECASE,
)
CLINIC = re.compile(r"klinik|institut\b|anstalt\b|clinic\b", re.IGNORECASE)
DEPARTMENT = re.compile(
    r"\babt\.\s|\b(?:departement|notaufnahme|notfallstation|notfallzentrum|intensivstation|abteilung|ambulanz|"
    r"station\b|sprechstunde|department|bereich\b|dienst\b|einheit\b|sekretariat "
    r"aufnahme|"
    r"bettendisposition|klinik(?:en)? für|institut für|zentrum für|[\w-]*abteilung|[\w-]*ambulanz|"
    r"[\w-]*sprechstunde|[\w-]*station)\b"
    r"|\w+(?:ologische|iatrische|chirurgische|ädische|medizinische|logische|ische) (?:klinik|abteilung|ambulanz|"
    r"sprechstunde)",
    re.IGNORECASE,
)
LEADER = re.compile(
    r"\b(?:chef[aä]rzt(?:in)?|vorstand|vostand|klinikvorstand|leiter(?:in)?|direktor(?:in)?|klinikdirektor|"
    r"primararzt|"
    r"ärztliche[rn]? (?:leit|direkt)\w+|leitende[rn]? \w+ärzt\w*|ltd\.)\b",
    re.IGNORECASE,
)
