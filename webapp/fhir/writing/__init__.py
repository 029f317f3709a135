"""Programs write: documents, files and patients come in over FHIR, one by one or together in a transaction."""
