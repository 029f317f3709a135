"""Results: written, compared, drawn, reported."""
