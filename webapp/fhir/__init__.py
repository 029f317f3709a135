"""FHIR R4 document retrieval: everything under `{base_url}/<org_id>/fhir/r4`, and how documents get in."""
