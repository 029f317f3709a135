"""What must hold of the tables before anything is built from them."""

from catalog_build.checks.expectations import Report, check, counts, previous_counts

__all__ = [
    "Report",
    "check",
    "counts",
    "previous_counts",
]
