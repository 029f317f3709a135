"""Measured: data sets, measures, and results of coding, reading, letters and load."""
