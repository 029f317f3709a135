"""Fetch every document once, for ever: python poll.py BASE TOKEN FILE, e.g. .../<org_id>/fhir/r4 bfa_... filed.sqlite3

The contract's four rules of polling, and nothing else. It may be killed at any moment and started again.
"""

import json
import sqlite3
import sys
import time
import urllib.request

base, token, place = sys.argv[1:4]
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 60
filed = sqlite3.connect(place, isolation_level=None)
filed.execute("CREATE TABLE IF NOT EXISTS document (id TEXT PRIMARY KEY, title TEXT, content BLOB)")
filed.execute("CREATE TABLE IF NOT EXISTS cursor (value TEXT)")


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
        return answer.read()


while True:
    # 1. The cursor is the highest instant processed. 2. Ask inclusively: `ge`, not `gt`.
    cursor = newest = filed.execute("SELECT max(value) FROM cursor").fetchone()[0] or ""
    url = f"{base}/DocumentReference?status=current&_count=200" + (f"&date=ge{cursor}" if cursor else "")
    while url:
        bundle = json.loads(get(url, Authorization=f"Bearer {token}"))
        for document in (entry["resource"] for entry in bundle.get("entry", [])):
            newest = max(newest, document["meta"]["lastUpdated"].replace("+00:00", "Z"))
            # 4. Skip known ids, file the rest ...
            if not filed.execute("SELECT 1 FROM document WHERE id = ?", (document["id"],)).fetchone():
                attachment = document["content"][0]["attachment"]
                row = document["id"], attachment["title"], get(attachment["url"])
                filed.execute("INSERT INTO document VALUES (?, ?, ?)", row)
        # 3. Follow `next` until it is absent.
        url = next((link["url"] for link in bundle["link"] if link["relation"] == "next"), None)
    # ... then advance the cursor. Not before the last page: pages come newest first.
    if newest > cursor:
        filed.execute("INSERT INTO cursor VALUES (?)", (newest,))
    time.sleep(pause)
