"""A release: the bundle, and what those want to know who are asked whether it may be installed."""
