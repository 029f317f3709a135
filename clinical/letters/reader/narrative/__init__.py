"""Diagnoses, procedures and drugs that a letter states in sentences instead of lists."""

from clinical.letters.reader.narrative.diagnoses import told_diagnoses
from clinical.letters.reader.narrative.drugs import drugs_within, told_drugs
from clinical.letters.reader.narrative.procedures import acts_in

__all__ = ["acts_in", "drugs_within", "told_diagnoses", "told_drugs"]
