"""Checks on the tables before anything is built from them."""

from catalog_build.checks.expectations import CheckReport, check, counts, previous_counts
