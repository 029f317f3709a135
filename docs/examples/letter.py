"""Fields of letters and where they stand: python letter.py BASE KEY FILE...

BASE is the text API's address (http://127.0.0.1:3000), FILE a PDF, a Word file, a text, or a scan where the server
recognises them. Prints a line for each value: file, path, value, page, and its first box in points from the top left of
the page; a path with "?" should be looked at. A file that cannot be read is told on standard error.
"""

import base64
import json
import sys
import urllib.error
import urllib.request

base, key, *files = sys.argv[1:]


def read(file):
    with open(file, "rb") as opened:
        content = {"data": base64.b64encode(opened.read()).decode()}
    body = {"document_type": "arztbrief", "evidence": True, "content": content}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{base}/api/documents/extract", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def value_at(data, path):
    for name in path.replace("[", ".").replace("]", "").split("."):
        data = data[int(name)] if name.isdigit() else data[name]
    return data


failed = False
for file in files:
    try:
        letter = read(file)
    except urllib.error.HTTPError as error:  # why, in "detail": broken, a password, a scan without recognition, ...
        print(file, error.code, json.load(error)["detail"], sep="\t", file=sys.stderr)
        failed = True
        continue
    doubtful = {one["path"] for one in letter["review"]}  # a human should look there
    for one in letter["evidence"]:
        box = one["boxes"][0] if one["boxes"] else {}  # Word and text files have no pages
        place = [one["page"] or "-", *(box.get(side, "-") for side in ("left", "top", "right", "bottom"))]
        print(
            file, one["path"] + "?" * (one["path"] in doubtful), value_at(letter["data"], one["path"]), *place, sep="\t"
        )
sys.exit(failed)
