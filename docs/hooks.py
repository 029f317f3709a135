"""Hooks of MkDocs that build these pages into a site that asks nothing of the network.

The README is the start page, so that it is written once. Links to files outside `docs/` become their paths, as they are
not part of the site. Pictures in Mermaid are drawn in the browser by a copy of the library that lies in the site; so
is what the search needs. Whatever else the theme would load from a server is cut off.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
NODE = ROOT / "tests" / "node" / "node_modules"
DRAWING = "assets/mermaid.js"
SEARCHING = "assets/iframe-worker.js"
ASSETS = {
    DRAWING: NODE / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js",
    SEARCHING: NODE / "iframe-worker" / "shim" / "index.js",
}
"""Libraries that the theme would load from a server, from npm: one draws, one searches in pages opened as files."""

_OUTSIDE = re.compile(r"\[([^\]\n]+)\]\(\.\./([^)\s]+)\)")
_ELSEWHERE = re.compile(r"https://unpkg\.com/[\w@./-]+")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README as the start page, and the libraries. Raises PluginError when npm has not fetched them."""
    for asset, source in ASSETS.items():
        if not source.is_file():
            raise PluginError(f"{source.relative_to(ROOT)} is missing; run: npm ci --prefix tests/node")
        files.append(File.generated(config, asset, abs_src_path=str(source)))
    readme = (ROOT / "README.md").read_text("utf-8")
    start = re.sub(r"\]\(docs/", "](", re.sub(r"\[docs/([\w-]+\.md)\]", r"[\1]", readme))
    files.append(File.generated(config, "index.md", content=start))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Name files outside `docs/` by their path in the project instead of linking to them; the map is a wide page."""
    if page.file.src_uri == "map.md":
        page.meta["hide"] = ["toc"]
        markdown = markdown.replace("```text", "``` { .text .map }")
    markdown = markdown.replace("](../README.md", "](index.md")
    return _OUTSIDE.sub(lambda link: _named(link[1], link[2]), markdown)


def _named(text: str, path: str) -> str:
    return f"`{path}`" if text.strip("`") == path else f"{text} (`{path}`)"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load the drawing library on pages with a picture, before the theme looks for it."""
    if 'class="mermaid"' not in output:
        return output
    return output.replace("</head>", f'<script src="{DRAWING}"></script></head>')


def on_post_build(config: MkDocsConfig) -> None:
    """Let the search find its library in the site, and cut off what else the theme would load from elsewhere."""
    for written in Path(config.site_dir).rglob("*"):
        if written.suffix not in {".html", ".js"}:
            continue
        text = written.read_text("utf-8")
        if _ELSEWHERE.search(text):
            here = text.replace("https://unpkg.com/iframe-worker/shim", SEARCHING)
            written.write_text(_ELSEWHERE.sub("about:blank", here), "utf-8")
