"""What a letter tells in sentences where it has no list: diagnoses, procedures, drugs, what is to be done next."""

from bentos.embedded.prose.acts import told_procedures
from bentos.embedded.prose.passages import Body
from bentos.embedded.prose.plans import told_steps
from bentos.embedded.prose.taken import told_drugs
from bentos.embedded.prose.told import told_diagnoses

__all__ = ["Body", "told_diagnoses", "told_drugs", "told_procedures", "told_steps"]
