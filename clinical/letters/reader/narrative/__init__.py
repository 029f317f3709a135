"""Diagnoses, procedures and drugs that a letter states in sentences instead of lists."""

from clinical.letters.reader.narrative.diagnoses import told_diagnoses
from clinical.letters.reader.narrative.drugs import drugs_within, told_drugs
from clinical.letters.reader.narrative.procedures import acts_in
