"""HTML error pages of the gateway."""

from dataclasses import dataclass
from html import escape

from aiohttp import web

_STYLE = (
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
    "body{max-width:34rem;margin:20vh auto;padding:0 1.25rem}"
    "h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.5rem 0}a{color:inherit}"
)
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Denial:
    """Why a request does not reach its app. code: stable, sent as the header X-Carrel-Error."""

    status: int
    code: str
    title: str
    text: str


UNKNOWN = Denial(404, "gateway.unknown", "App not found", "This address belongs to no app of a session.")
ENDED = Denial(
    404, "gateway.ended", "The session has ended", "Start another session, then open the app again."
)
NO_GRANT = Denial(
    401,
    "gateway.no_grant",
    "Open this app from its session",
    "This link has been used, has expired, or is missing. "
    "Find the session on the Sessions page and open the app there, or run `carrel app open`.",
)
OTHER_SITE = Denial(
    403, "gateway.origin", "The request comes from another site", "Only the app's own pages may send it."
)
NOT_RUNNING = Denial(
    503,
    "gateway.not_running",
    "The session is not running",
    "It is starting again. Reload this page in a moment.",
)
NOT_ANSWERING = Denial(
    502,
    "gateway.not_answering",
    "The app does not respond",
    "It may have stopped, or may still be starting. Reload this page in a moment, or open the app again "
    "from its session.",
)
BROKEN_ANSWER = Denial(
    502, "gateway.broken_answer", "Invalid response from the app", "The app did not send an HTTP response."
)
DATABASE_AWAY = Denial(
    503, "gateway.unavailable", "Carrel is busy or restarting", "Reload this page in a moment."
)
BAD_REQUEST = Denial(400, "gateway.bad_request", "Invalid request", "It cannot be forwarded to an app.")
TOO_SLOW = Denial(
    408, "gateway.too_slow", "The request did not arrive in time", "Send it again, over a faster connection."
)


def answer(denial: Denial, public_url: str) -> web.Response:
    """The denial as a small page with a link back."""
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(denial.title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<h1>{escape(denial.title)}</h1><p>{escape(denial.text)}</p>"
        f'<p><a href="{escape(public_url)}/sessions">Go to your sessions</a></p></html>\n'
    )
    headers = {**HEADERS, "X-Carrel-Error": denial.code}
    if denial.status == 503:
        headers["Retry-After"] = "2"
    return web.Response(
        status=denial.status, text=body, content_type="text/html", charset="utf-8", headers=headers
    )
