"""Results compared, drawn, reported as a page, and logged to MLflow."""
