"""Fetch every document once, for ever: python poll.py BASE TOKEN FILE, e.g. .../<org_id>/fhir/r4 bfa_... filed.sqlite3

The contract's four rules of polling, and what a year of it needs beside them: a document whose file cannot be had is
gone past and asked for again later, a document that was marked as entered in error or deleted loses its content here
and gets it back when the mark is undone, one that an import put behind the cursor is filed all the same, and a server
that does not answer is asked again, ever more seldom. It may be killed at any moment and started again. Python's
standard library is enough.

Tables: document (id, title, content; content is NULL while it could not be had or is marked), marked (id), late (id,
tries, next), cursor (value), feed (value).
"""

import http.client
import json
import random
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

base, token, path = sys.argv[1:4]
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 60  # seconds between two rounds
LONGEST = 3600  # seconds between two tries of the same thing, at most

filed = sqlite3.connect(path, isolation_level=None)
filed.executescript("""
    CREATE TABLE IF NOT EXISTS document (id TEXT PRIMARY KEY, title TEXT, content BLOB);
    CREATE TABLE IF NOT EXISTS marked (id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS late (id TEXT PRIMARY KEY, tries INTEGER, next REAL);
    CREATE TABLE IF NOT EXISTS cursor (value TEXT);
    CREATE TABLE IF NOT EXISTS feed (value TEXT);
""")
DUE = """
    SELECT id FROM document LEFT JOIN late USING (id)
    WHERE content IS NULL AND id NOT IN (SELECT id FROM marked) AND coalesce(next, 0) <= ?
"""


def get(url):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def pages(path, **wanted):
    """The entries of all pages. Rule 3: follow `next` until it is absent."""
    url = f"{base}/{path}?{urllib.parse.urlencode({**wanted, '_count': 200})}"
    while url:
        bundle = json.loads(get(url))
        yield from bundle.get("entry", [])
        url = next((link["url"] for link in bundle["link"] if link["relation"] == "next"), None)


def wait(tries):
    return min(LONGEST, pause * 2 ** min(tries, 20)) * random.uniform(0.5, 1)  # noqa: S311, spreads the tries of many pollers


def fetch(document):
    """The file, by `Binary`: unlike the presigned URL it does not expire. What cannot be had is tried again later."""
    try:
        content = get(f"{base}/Binary/{document}")
    except urllib.error.HTTPError as error:
        if error.code in (401, 403, 429) or error.code >= 502:  # not this document's fault: the round ends
            raise
        tries = (filed.execute("SELECT tries FROM late WHERE id = ?", (document,)).fetchone() or (0,))[0] + 1
        filed.execute("INSERT OR REPLACE INTO late VALUES (?, ?, ?)", (document, tries, time.time() + wait(tries)))
        print(f"{document}: {error.code}, try {tries}", file=sys.stderr)
        return
    with filed:
        filed.execute("BEGIN")
        filed.execute("UPDATE document SET content = ? WHERE id = ?", (content, document))
        filed.execute("DELETE FROM late WHERE id = ?", (document,))


def file(document):
    """From here on it cannot be forgotten, whatever becomes of its file."""
    if not filed.execute("SELECT 1 FROM document WHERE id = ?", (document["id"],)).fetchone():
        title = document["content"][0]["attachment"].get("title")
        filed.execute("INSERT INTO document VALUES (?, ?, NULL)", (document["id"], title))


def new_documents():
    # Rule 1: the cursor is the highest instant processed. Rule 2: ask inclusively: `ge`, not `gt`.
    cursor = newest = filed.execute("SELECT max(value) FROM cursor").fetchone()[0] or ""
    for entry in pages("DocumentReference", **({"date": f"ge{cursor}"} if cursor else {})):
        newest = max(newest, entry["resource"]["meta"]["lastUpdated"].replace("+00:00", "Z"))
        file(entry["resource"])  # Rule 4: skip known ids, file the rest ...
    # ... then advance the cursor. Not before the last page: pages come newest first.
    if newest > cursor:
        filed.execute("INSERT INTO cursor VALUES (?)", (newest,))


def changes():
    """Marks and their undoing change no storage time, and an import may carry old ones; the feed has them in order.

    Oldest first, and the cursor behind each: what was done before it was killed is at most done again.
    """
    since = filed.execute("SELECT max(value) FROM feed").fetchone()[0] or ""
    for entry in pages("DocumentReference/_history", _sort="_lastUpdated", **({"_since": since} if since else {})):
        document, resource = entry["fullUrl"].rpartition("/")[2], entry.get("resource")
        at = entry["response"]["lastModified"].replace("+00:00", "Z")
        with filed:
            filed.execute("BEGIN")
            if resource and resource["status"] == "current":
                file(resource)
                filed.execute("DELETE FROM marked WHERE id = ?", (document,))  # without content: it is fetched again
            else:
                filed.execute("INSERT OR IGNORE INTO marked VALUES (?)", (document,))
                filed.execute("UPDATE document SET content = NULL WHERE id = ?", (document,))
                filed.execute("DELETE FROM late WHERE id = ?", (document,))
            if at > since:
                filed.execute("INSERT INTO feed VALUES (?)", (at,))


failures = 0
while True:
    try:
        new_documents()
        changes()
        for (document,) in filed.execute(DUE, (time.time(),)).fetchall():
            fetch(document)
        failures = 0
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:  # no or no whole answer: ask again
        failures += 1
        print(f"{type(error).__name__}: {error}; again soon", file=sys.stderr)
    time.sleep(wait(failures) if failures else pause)
