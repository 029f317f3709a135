"""Diagnoses, procedures, drugs and next steps that a letter states in sentences instead of lists."""

from clinical.letters.reader.narrative.diagnoses import told_diagnoses
from clinical.letters.reader.narrative.drugs import told_drugs
from clinical.letters.reader.narrative.passages import Body
from clinical.letters.reader.narrative.plans import told_steps
from clinical.letters.reader.narrative.procedures import told_procedures

__all__ = ["Body", "told_diagnoses", "told_drugs", "told_procedures", "told_steps"]
