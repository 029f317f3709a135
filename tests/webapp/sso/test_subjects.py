"""A vendor gets new subjects: everybody keeps their account, or nothing is changed."""

import pytest
from sqlalchemy import select

from tests.webapp.conftest import command
from tests.webapp.sso.conftest import person, sign_in
from webapp.models import AuditEvent
from webapp.sso.models import Identity


@pytest.fixture
def people(app, add_provider, vendor):
    """subject-1 to subject-3 have signed in."""
    add_provider()
    for number in (1, 2, 3):
        assert sign_in(app.test_client(), vendor, person(number)).headers["Location"] == "/accounts/"


def migrate(app, folder, lines, *options, fails=False):
    """The words of the command with a map of these lines."""
    file = folder / "map.csv"
    file.write_text(f"old_subject,new_subject\n{lines}", encoding="utf-8")
    return command(app, "providers", "migrate-subjects", "acme", "--map", file, *options, fails=fails)


def owners(db):
    """Subject -> e-mail of its account."""
    db.session.expire_all()
    return {row.subject: row.user.email for row in db.session.scalars(select(Identity))}


BEFORE = {f"subject-{number}": f"person{number}@example.org" for number in (1, 2, 3)}
ALL = "subject-1,oidc-1\nsubject-2,oidc-2\nsubject-3,oidc-3\n"


@pytest.mark.usefixtures("people")
def test_everybody_keeps_the_account_under_the_new_subject(app, db, tmp_path, client, vendor):
    assert migrate(app, tmp_path, ALL).splitlines()[-1] == "3 identities moved"
    assert owners(db) == {f"oidc-{number}": f"person{number}@example.org" for number in (1, 2, 3)}
    sign_in(client, vendor, person(2, sub="oidc-2", email="new-address@example.org"))
    assert "person2@example.org" in client.get("/accounts/").get_data(as_text=True)
    events = db.session.scalars(select(AuditEvent).where(AuditEvent.event == "subjects_moved")).all()
    assert [(event.provider_id, event.detail) for event in events] == [("acme", "3 identities")]
    assert migrate(app, tmp_path, ALL).splitlines()[-1] == "0 identities moved", "a second time does no harm"


@pytest.mark.usefixtures("people")
def test_a_preview_counts_and_changes_nothing(app, db, tmp_path):
    said = migrate(app, tmp_path, "subject-1,subject-2\nnobody,oidc-9\nsubject-3,oidc-3\n", "--dry-run")
    counts = [line.split(":")[1].split()[0] for line in said.splitlines()[:5]]
    assert counts == ["2", "1", "1", "1", "0"], said
    assert said.splitlines()[-1] == "dry run: nothing was changed"
    assert owners(db) == BEFORE
    assert db.session.scalars(select(AuditEvent).where(AuditEvent.event == "subjects_moved")).all() == []


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("subject-1,subject-2\nsubject-3,oidc-3\n", "1 new subjects belong to others"),
        ("subject-1,oidc-1\n", "2 identities are not in the file"),
        ("subject-1,oidc-1\nsubject-2,oidc-1\n", "two old subjects lead to one"),
        ("subject-1,oidc-1\nsubject-1,oidc-2\n", "line 3: the old subject stands there twice"),
        ("subject-1,\n", "line 2: not two usable subjects"),
        (f"subject-1,{'x' * 256}\n", "line 2: not two usable subjects"),
        ("subject-1,a,b\n", "line 2: not two usable subjects"),
    ],
)
def test_a_map_that_would_unlink_somebody_is_refused_whole(app, db, tmp_path, lines, word):
    said = migrate(app, tmp_path, lines, fails=True)
    assert "nothing was changed" in said
    assert word in said
    assert owners(db) == BEFORE


@pytest.mark.usefixtures("people")
def test_swapped_and_chained_subjects_arrive(app, db, tmp_path):
    migrate(app, tmp_path, "subject-1,subject-2\nsubject-2,subject-1\nsubject-3,subject-4\n")
    assert owners(db) == {
        "subject-2": "person1@example.org",
        "subject-1": "person2@example.org",
        "subject-4": "person3@example.org",
    }


@pytest.mark.usefixtures("people")
def test_the_rest_stays_when_told_so(app, db, tmp_path):
    migrate(app, tmp_path, "subject-1,oidc-1\n", "--leave-rest")
    assert set(owners(db)) == {"oidc-1", "subject-2", "subject-3"}
    migrate(app, tmp_path, ALL)  # and moves later
    assert set(owners(db)) == {"oidc-1", "oidc-2", "oidc-3"}


@pytest.mark.usefixtures("people")
def test_a_fault_on_the_way_rolls_everything_back(app, db, tmp_path):
    """The audit trail is written last: without it nothing moves."""
    with db.write() as session:
        session.connection().exec_driver_sql("ALTER TABLE audit_event RENAME TO audit_event_away")
    try:
        migrate(app, tmp_path, ALL, fails=True)
    finally:
        with db.write() as session:
            session.connection().exec_driver_sql("ALTER TABLE audit_event_away RENAME TO audit_event")
    assert owners(db) == BEFORE
