"""Grounding: finds the evidence for each value in the text, and removes values without evidence."""

from clinical.letters.grounding.enumerations import Circumstances, named_choice, named_sex
from clinical.letters.grounding.free_text import Kind, find_statement
from clinical.letters.grounding.policy import Grounded, Verdict
from clinical.letters.grounding.validator import ground, judge
