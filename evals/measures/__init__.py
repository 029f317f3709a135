"""One home of metrics: intervals, calibration, paired tests, and the one table of results."""
