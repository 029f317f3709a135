"""Learning: the static encoder, the ranking model, and from which probability a code is `high`.

Its modules are imported by name, and only where something is trained: they need torch and scikit-learn (extra `train`).
"""
