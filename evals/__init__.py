"""Measured: data sets, metrics, reports and speed."""
