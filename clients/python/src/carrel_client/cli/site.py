"""Commands for the settings of the installation."""

from __future__ import annotations

import argparse
import sys

from carrel_client.cli.context import Context
from carrel_client.cli.output import print_facts, print_line
from carrel_client.cli.parser import Arguments
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_YES, _NO = ("true", "on", "yes"), ("false", "off", "no")


def show_arguments(parser: Arguments) -> None:
    parser.explain("Show the settings of the installation. The password of the mail server is never shown.")
    parser.example("carrel site show", "carrel site show -o json | jq .lock_minutes")


def show(args: argparse.Namespace, context: Context) -> int:
    """Show the settings."""
    response = context.client.site.show()
    context.answer(response, lambda: print_facts([(name, _text(value)) for name, value in response.items()]))
    return 0


def change_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "settings",
        metavar="NAME=VALUE",
        nargs="*",
        help="as in carrel site show; an empty value clears it",
    )
    parser.add_argument(
        "--mail-password-stdin",
        action="store_true",
        help="read the mail server's password from standard input",
    )
    parser.explain(
        "Change settings of the installation. Separate list items with commas, write switches as on or off.\n"
        "See the reference of site settings."
    )
    parser.example(
        "carrel site set second_factor=administrators lock_minutes=30",
        "carrel site set sign_up_email_domains=example.org,example.com",
        "carrel site set slot_prices=cpu=0.02,mem=0.005,cuda.device=1.5 currency=EUR",
        "pass show smtp | carrel site set mail_host=smtp.example.org mail_sender=carrel@example.org "
        "--mail-password-stdin",
    )


def change(args: argparse.Namespace, context: Context) -> int:
    """Change settings."""
    now = context.client.site.show()
    changes = dict(_read(text, now) for text in args.settings)
    if args.mail_password_stdin:
        changes["mail_password"] = sys.stdin.readline().rstrip("\r\n") or None
    if not changes:
        raise CarrelError("usage", "Nothing to change.", status=422, hint="carrel site set --help")
    changed = context.client.site.update(**changes)
    context.answer(
        changed, lambda: print_facts([(name, _text(changed.get(name, "changed"))) for name in changes])
    )
    return 0


def test_mail_arguments(parser: Arguments) -> None:
    parser.add_argument("to", metavar="E-MAIL", help="recipient")
    parser.explain("Send a test e-mail and print the mail server's response; exit code 1 if it was rejected.")
    parser.example("carrel site test-mail ada@example.org")


def test_mail(args: argparse.Namespace, context: Context) -> int:
    """Send a test e-mail."""
    result = context.client.site.test_mail(to=args.to)
    context.answer(
        result, lambda: print_line(result["error"] or f"The mail server accepted the e-mail to {args.to}.")
    )
    return 0 if result["sent"] else 1


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{name}={number:g}" for name, number in value.items())
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def _read(text: str, now: Mapping[str, Any]) -> tuple[str, Any]:
    """Name and value, parsed by the type of the current value: switch, number, list or text. Raises: CarrelError."""
    name, equals, value = text.partition("=")
    if not equals or name not in now:
        raise CarrelError(
            "usage", f"{text} is not NAME=VALUE.", status=422, hint="Write NAME=VALUE; see carrel site show."
        )
    before = now[name]
    if isinstance(before, bool):
        if value.lower() not in _YES + _NO:
            raise CarrelError("usage", f"{name} must be on or off.", status=422)
        return name, value.lower() in _YES
    if isinstance(before, int) and value.isdigit():
        return name, int(value)
    if isinstance(before, dict):
        return name, dict(_number(part) for part in value.split(",") if part)
    if isinstance(before, list):
        return name, [part for part in value.split(",") if part]
    return name, value or (None if name in _ABSENT else "")


def _number(text: str) -> tuple[str, float]:
    """One entry of a setting with several numbers, such as cpu=0.02. Raises: CarrelError."""
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise CarrelError("usage", f"{text} is not NAME=NUMBER.", status=422) from None


_ABSENT = ("mail_sender", "sign_up_domain", "sign_up_project")
"""Texts that are null when empty; all others may be empty."""
