"""Letters: one generator, fields read against their truth, negatives and positives behind grounding, review."""
