"""Additional sign-in steps: a second-factor code, and a new password."""

from __future__ import annotations

import sys

from carrel_client.cli.asking import no_terminal
from carrel_client.client import ApiClient
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_CODE_DIGITS = 6


def finish(client: ApiClient, me: models.Me, *, password: str, code: str | None) -> models.Me:
    """Complete all steps of a sign-in. code: authenticator or recovery code; prompts if None.

    Raises: CarrelError.
    """
    if me["pending"] == "factor":
        me = _second_step(client, code)
    if me["pending"] == "password":
        me = client.password.update(current=password, new=_new_password())
    if me["pending"] == "enrol":
        raise CarrelError(
            "auth.pending_enrol",
            "Your account requires a second factor. Set it up on the web page.",
            status=403,
            hint=f"Sign in at {client.transport.target.url}, then sign in here again.",
        )
    return me


def _second_step(client: ApiClient, given: str | None) -> models.Me:
    code = given or _prompt("Authenticator or recovery code: ", "Give --code.")
    digits = "".join(code.split())
    if digits.isdigit() and len(digits) == _CODE_DIGITS:
        return client.auth.factor(code=digits)
    return client.auth.factor(recovery_code=code)


def _new_password() -> str:
    new = _prompt("You must change your password. New password: ", "Sign in on the page to change it.")
    if _prompt("Repeat the password: ", "") != new:
        raise CarrelError("usage", "The passwords do not match.", status=422, hint="Sign in again.")
    return new


def _prompt(question: str, otherwise: str) -> str:
    """Prompt without echo. Raises: CarrelError without a terminal."""
    if not sys.stdin.isatty():
        raise no_terminal("There is no terminal for a prompt.", otherwise)
    from getpass import getpass

    return getpass(question)
