"""Training of the encoder, the ranking model, and the probabilities at which `high` and `medium` begin.

Its modules are imported by name, and only where something is trained: they need torch and scikit-learn (extra `train`).
"""
