"""Coding: the rate at which the right code is found, and the worth of `high` and `medium`."""
