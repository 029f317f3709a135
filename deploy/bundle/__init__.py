"""Everything an installation without internet needs, in one folder: wheels, Bentos, catalog, documentation."""
