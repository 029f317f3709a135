"""How fast documents are found, fetched and stored over FHIR (`python -m evals fhir-speed`)."""
