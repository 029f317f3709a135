"""Search, measure, compare and look at errors, from a notebook: each is one call and gives a DataFrame."""

from evals.lab.artifact import Lab
from evals.lab.fitted import CalibratedSearch
from evals.lab.measured import Evaluation, compare, evaluate, flips
from evals.lab.misses import CAUSES, browser, errors
from evals.lab.searched import first, search
