"""The OpenAPI document: what the framework derives from the routes, plus security, servers, tags and errors.

Security requirements come from each route's own dependencies, so that the document cannot claim less than the
server enforces.
"""

import asyncio
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import orjson
from fastapi import FastAPI, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.routing import BaseRoute

from carrel.http import auth, problems
from carrel.http.fast_path import FastRoute

_BEARER, _KEYPAIR, _COOKIE, _CSRF = "bearer", "keypair", "cookie", "csrf"
_WITHOUT_CSRF = frozenset({"get", "head", "options"})
_SCHEMA_PREFIX = "#/components/schemas/"

DESCRIPTION = """\
Self-hosted, multi-tenant compute sessions.

**Credentials.** Scripts send a personal token (`Authorization: Bearer`) or a keypair (HTTP Basic: access key and
secret key). Pages send the cookie of a sign-in and, with every request that changes something, the CSRF token.

**Errors** are RFC 9457 problems (`application/problem+json`) with a stable `code`, a `detail` for people and a `hint`
what to do next. `429` and `503` carry `Retry-After`.

**Lists** return `items` and `next_cursor`; pass it back as `cursor` until it is null.

**Repeats.** Operations that create something accept an `Idempotency-Key`: a repeat returns the first result.

**WebSockets** are not described here: `/api/v1/sessions/{ref}/exec` and `/api/v1/sessions/{ref}/terminal`.
"""

TAGS = {
    "access": "Apps and logs of a session.",
    "apps": "The catalogue of apps.",
    "audit": "The audit trail: who did what, exported and verified.",
    "auth": "Sign-in, sign-up and passwords; the page's side of authentication.",
    "domains": "Domains, the top level of tenancy.",
    "dotfiles": "Small files that your sessions have in their home.",
    "environments": "Images of one's own: versions, shares, use.",
    "events": "Changes, as a list or as a stream of server-sent events.",
    "factors": "Second factors: authenticator apps, passkeys and recovery codes.",
    "files": "Files in folders: listing, download, upload (tus 1.0), archives and links.",
    "folders": "Folders, their shares, quotas and long-running tasks.",
    "groups": "Resource groups: which nodes serve whom, and how.",
    "rescans": "Scans of all registries or all images at once, with progress.",
    "image scans": "Packages and known vulnerabilities of images, and exemptions from the rule.",
    "images": "Container images in the catalogue.",
    "imports": "Import & Run: notebooks, repositories and archives by their address.",
    "keypairs": "Keypairs, the credentials of scripts and of the command line.",
    "logins": "Active sign-ins of browsers.",
    "engines": "Container engines: kind, settings and state.",
    "maintenance": "Checks of the installation: versions, consistency, support bundle.",
    "nodes": "Nodes of the engines: capacity, drain, cordon.",
    "notifications": "Notifications of one's sessions, and webhooks with their deliveries.",
    "policies": "Resource policies: limits of users, keypairs and projects.",
    "presets": "Named resource amounts to start sessions with.",
    "projects": "Projects and their members.",
    "providers": "Identity providers: OpenID Connect and LDAP.",
    "registries": "Registries of images: address, credentials and allow-lists.",
    "resources": "Capacity, use and availability per resource group.",
    "schedules": "Recurring sessions: schedules and their runs.",
    "scheduler": "The queue, fair shares, explanations and traces.",
    "server": "Health, version and metrics of the server.",
    "sessions": "Compute sessions: create, watch, rename, terminate.",
    "site": "Settings of the installation.",
    "ssh-keys": "SSH public keys.",
    "storage hosts": "Directories and file systems that hold folders.",
    "tokens": "Personal access tokens.",
    "templates": "Saved session definitions with parameters, to start sessions from.",
    "usage": "CPU and memory usage of sessions.",
    "views": "Saved filters, orders and columns of lists.",
    "users": "User accounts and profiles.",
}

SECURITY_SCHEMES = {
    _BEARER: {
        "type": "http",
        "scheme": "bearer",
        "description": "A personal token, from `carrel token create` or `POST /api/v1/tokens`.",
    },
    _KEYPAIR: {
        "type": "http",
        "scheme": "basic",
        "description": "A keypair: the access key as user name, the secret key as password.",
    },
    _COOKIE: {
        "type": "apiKey",
        "in": "cookie",
        "name": auth.COOKIE,
        "description": "The cookie of a sign-in, set by `POST /api/v1/auth/login`.",
    },
    _CSRF: {
        "type": "apiKey",
        "in": "header",
        "name": auth.CSRF_HEADER,
        "description": "The CSRF token of the sign-in, `csrf_token` of `GET /api/v1/auth/me`. With the cookie only.",
    },
}


def install(app: FastAPI, routes: Iterable[BaseRoute]) -> None:
    """Make the application serve the completed document. routes: those below /api/v1."""
    guarded = {
        route.operation_id: requires_credentials(route) for route in routes if isinstance(route, APIRoute)
    }
    described = app.openapi
    app.openapi = lambda: complete(described(), guarded)  # type: ignore[method-assign]
    serve(app)


def serve(app: FastAPI) -> None:
    """Generating the document takes more than a second: once, in a thread, so that other requests go on."""
    rendered, generating = cache(lambda: orjson.dumps(app.openapi())), asyncio.Lock()

    async def show(_: Request) -> Response:
        async with generating:
            return Response(await asyncio.to_thread(rendered), media_type="application/json")

    app.add_route("/api/v1/openapi.json", show, include_in_schema=False)


def requires_credentials(route: APIRoute) -> bool:
    """True if a request without credentials is rejected before it reaches the endpoint."""
    return isinstance(route, FastRoute) or any(map(auth.identifies, _calls(route.dependant)))


def _calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield each.call
        yield from _calls(each)


def complete(document: dict[str, Any], guarded: dict[str | None, bool]) -> dict[str, Any]:
    """Add everything that the framework cannot derive. guarded: by operation id. Twice: no-op."""
    document["servers"] = [{"url": "/", "description": "The installation that serves this document"}]
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    document["components"]["securitySchemes"] = SECURITY_SCHEMES
    for methods in document["paths"].values():
        for method, operation in methods.items():
            operation["security"] = _requirements(method) if guarded[operation["operationId"]] else []
    _drop_patch_defaults(document)
    return problems.document(document)


def _requirements(method: str) -> list[dict[str, list[str]]]:
    """Alternative security requirements. The page's cookie needs the CSRF token too if the method changes state."""
    page = [_COOKIE] if method in _WITHOUT_CSRF else [_COOKIE, _CSRF]
    return [{_BEARER: []}, {_KEYPAIR: []}, {name: [] for name in page}]


def _drop_patch_defaults(document: dict[str, Any]) -> None:
    """PATCH keeps omitted fields: a default would make clients overwrite them."""
    for methods in document["paths"].values():
        content = methods.get("patch", {}).get("requestBody", {}).get("content", {})
        reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
        schema = document["components"]["schemas"].get(reference.removeprefix(_SCHEMA_PREFIX), {})
        for field in schema.get("properties", {}).values():
            field.pop("default", None)
