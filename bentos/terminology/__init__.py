"""FHIR R4 terminology of ICD-10-GM: look up, validate, expand, compare, translate; no HTTP in it."""

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import ImportMissing, Issue, OperationRefused, invalid, outcome
from bentos.terminology.lookup import lookup, lookup_json, subsumes
from bentos.terminology.resources import capabilities, code_systems, read, searched, statement, value_sets
from bentos.terminology.systems import SYSTEM, Systems, Year
from bentos.terminology.translation import concept_maps, translate
from bentos.terminology.validation import validate_code
from bentos.terminology.valuesets import expand
