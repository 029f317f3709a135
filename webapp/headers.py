"""Security headers of every answer. A view that needs another value sets it; only missing ones are filled in."""

from flask import Flask, Response

from webapp.sessions import is_https

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_FILLED = tuple((name.lower(), name, value) for name, value in HEADERS.items())
HSTS = "max-age=31536000; includeSubDomains"


def init_app(app: Flask) -> None:
    """Add the headers to every answer of `app`; pages are not kept by any cache."""
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    there = {name.lower() for name, _ in response.headers}  # `setdefault` would look through all of them for each
    for lowered, name, value in _FILLED:
        if lowered not in there:
            response.headers.add(name, value)
    if is_https():
        response.headers.setdefault("Strict-Transport-Security", HSTS)
    if response.mimetype == "text/html":
        response.headers.setdefault("Cache-Control", "no-store")
    return response
