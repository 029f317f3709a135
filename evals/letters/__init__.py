"""Letters: one generator, fields read against their truth, lies and truths behind grounding, review."""
