"""The catalog and every fact about codes: the tree, spelling, ranges, titles, history, limits on age."""

from clinical.icd.catalog import NOT_USED, PAIR_NOTE, Catalog, Code, Kind, Note, Sex
from clinical.icd.groups import (
    FAMILY_HISTORY,
    HEALTH_FACTORS,
    INJURIES,
    SYMPTOMS,
    TREATED_TUMOURS,
    is_aftermath,
    is_unspecified,
    lasts,
    says_kind,
)
from clinical.icd.history import NONE, family_history_codes, personal_history_codes
from clinical.icd.limits import outside
from clinical.icd.spelling import CODE_PATTERN, EXAMPLE, EXAMPLE_PAIR, REFERENCE, category, covers, parent_of, parse
from clinical.icd.titles import (
    adds_unspecified,
    has_no_site,
    is_catch_all,
    is_default,
    is_other,
    leaves_open,
    says_less,
)
from clinical.icd.years import Transition, transitions
