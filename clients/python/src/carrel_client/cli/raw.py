"""`carrel api`: any request to the HTTP API, with the credentials of the profile."""

from __future__ import annotations

import argparse
import json
import sys

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_json, printable, write_bytes
from carrel_client.cli.parser import Arguments, reading
from carrel_client.errors import CarrelError
from carrel_client.transport import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from carrel_client.wire import Response

_ROOT = "/api/v1"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_IN_QUERY = ("GET", "HEAD", "DELETE", "OPTIONS")


def api_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "method", metavar="METHOD", type=reading(_method), help="GET, POST, PUT, PATCH, DELETE ..."
    )
    parser.add_argument(
        "path", metavar="PATH", help="relative to /api/v1, as /sessions or sessions?state=all"
    )
    parser.add_argument(
        "-f",
        "--field",
        metavar="NAME=TEXT",
        action="append",
        type=reading(_field),
        default=[],
        dest="fields",
        help="a field of the JSON body, or of the query if the request has no body; repeatable",
    )
    parser.add_argument(
        "-F",
        "--json-field",
        metavar="NAME=JSON",
        action="append",
        type=reading(_json_field),
        default=[],
        dest="json_fields",
        help="as -f, for numbers, true, false, null, lists and objects",
    )
    parser.add_argument("--input", metavar="FILE", help="send this file as the body; - for standard input")
    parser.add_argument("--paginate", action="store_true", help="fetch all pages of a list as one")
    parser.add_argument(
        "-i", "--include", action="store_true", help="print the response status and headers first"
    )
    parser.explain(
        "Send a request to the HTTP API and print the response. It reaches every operation; see openapi.json\n"
        "and the page /api/docs. The response is printed as JSON or in the format of -o; a response that is\n"
        "not JSON is printed as it is. Errors have the same exit codes as in other commands."
    )
    parser.example(
        "carrel api GET sessions",
        "carrel api GET sessions -f state=all -F limit=5 -o 'jsonpath={.items[*].name}'",
        "carrel api GET audit --paginate -o jsonpath='{range .items[*]}{.at} {.action}{\"\\n\"}{end}'",
        'carrel api POST presets -f name=tiny -F \'slots={"cpu": 500, "mem": 536870912}\'',
        'echo \'{"name": "scratch"}\' | carrel api POST vfolders --input -',
        "carrel api GET server -i",
    )


def api(args: argparse.Namespace, context: Context) -> int:
    """Send a request."""
    path = args.path if args.path.startswith(f"{_ROOT}/") else f"{_ROOT}/{args.path.lstrip('/')}"
    fields = {**dict(args.fields), **dict(args.json_fields)}
    if args.input and (fields or args.method in _IN_QUERY):
        raise CarrelError("usage", "--input replaces the body.", status=422, hint="Remove -f.")
    if args.paginate and args.method != "GET":
        raise CarrelError("usage", "Only a GET has pages.", status=422)
    if args.paginate:
        answer = _all_pages(args, context, path, fields)
        context.answer(answer, lambda: print_json(answer))
        return 0
    query, body, headers = _sent(args, fields)
    with context.client.transport.raw(args.method, path, query=query, headers=headers, body=body) as answered:
        _print(args, context, answered)
    return 0


def _sent(
    args: argparse.Namespace, fields: dict[str, Any]
) -> tuple[dict[str, Any], bytes | None, dict[str, str]]:
    """Query, body and headers of the request."""
    if args.method in _IN_QUERY:
        return fields, None, {}
    body = _content(args.input) if args.input else json.dumps(fields).encode()
    return {}, body, {"Content-Type": "application/json"}


def _print(args: argparse.Namespace, context: Context, answered: Response) -> None:
    if args.include:
        lines = [
            f"HTTP/1.1 {answered.status}",
            *(f"{name}: {value}" for name, value in answered.headers.items()),
        ]
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines) + "\n")
        sys.stdout.flush()
    if answered.status >= 300:
        raise refusal(answered, answered.read())
    if "json" in answered.headers.get("content-type", ""):
        text = answered.read()
        if text:
            answer = json.loads(text)
            context.answer(answer, lambda: print_json(answer))
        return
    for block in answered.blocks():
        write_bytes(block)


def _all_pages(args: argparse.Namespace, context: Context, path: str, fields: dict[str, Any]) -> object:
    """The list with the items of all pages."""
    response: dict[str, Any] = {}
    cursor = None
    while True:
        query = {**fields, **({"cursor": cursor} if cursor else {})}
        with context.client.transport.raw("GET", path, query=query) as answered:
            text = answered.read()
            if answered.status >= 300:
                raise refusal(answered, text)
        page = json.loads(text)
        if not isinstance(page, dict) or "items" not in page:
            raise CarrelError(
                "usage", f"{args.path} is not a paginated list.", status=422, hint="Remove --paginate."
            )
        response = {**page, "items": [*response.get("items", []), *page["items"]]}
        cursor = page.get("next_cursor")
        if not cursor:
            return response


def _content(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CarrelError("client.file", f"{path}: {error.strerror or error}.", status=422) from error


def _method(text: str) -> str:
    """Raises: ValueError."""
    if text.upper() not in _METHODS:
        raise ValueError(f"{text!r} is not a method; use one of {', '.join(_METHODS)}")
    return text.upper()


def _field(text: str) -> tuple[str, str]:
    """Raises: ValueError."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name, value


def _json_field(text: str) -> tuple[str, object]:
    """Raises: ValueError."""
    name, value = _field(text)
    try:
        return name, json.loads(value)
    except ValueError:
        raise ValueError(f"{value!r} is not JSON; use -f for a text") from None
