"""Schema history (Alembic). One line, no branches: a revision names the one before it in `down_revision`.

    0018_schema         every table, as they are in the first release
    0019_...            the next one has `down_revision = "0018_relationship"`, and so on

To add one: write the models (and import their module in `env.py`), then a file `versions/NNNN_subject.py` like the
last one, with batch operations where SQLite has to alter a table. tests/webapp/test_migrations.py fails when the
history has two heads, when models and migrations differ, or when a downgrade does not lead back.
"""
