"""The tables of docs/sign-in.md name tests that are there, and a changed token URL asks for its secret again."""

import re

from sqlalchemy import select

from tests.webapp.sso import live
from webapp.sso.models import Provider


def test_every_line_names_tests_that_are_there():
    text = (live.ROOT / "docs" / "sign-in.md").read_text("utf-8").partition("## Line by line")[2]
    named = set(re.findall(r"`(test_\w+)`", text))
    there = {
        name
        for file in (live.ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    }
    assert len(named) > 30
    assert named <= there, named - there


def test_a_changed_token_url_asks_for_the_secret_again(app, db, add_provider):
    """By command as on the page: an empty secret keeps the stored one only where it goes to the same place."""
    add_provider()
    from webapp.sso.providers import MOVED, ProviderFields, problems

    row = db.session.scalars(select(Provider)).one()
    urls = (row.authorization_url, row.token_url, row.userinfo_url)
    with app.app_context():
        kept = ProviderFields("acme", "Acme", *urls, row.client_id)
        assert problems(kept, row) == {}
        moved = ProviderFields("acme", "Acme", urls[0], "https://evil.example/token", urls[2], row.client_id)
        assert problems(moved, row) == {"client_secret": MOVED}
        anew = ProviderFields("acme", "Acme", urls[0], "https://new.example/token", urls[2], row.client_id, "secret")
        assert problems(anew, row) == {}
