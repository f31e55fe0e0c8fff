"""What signing in may ask for beyond a password: a code of a device, and a new password."""

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
    """The sign-in with all its steps done. code: of the device, or a recovery code; asked for when None.

    Raises: CarrelError.
    """
    if me["pending"] == "factor":
        me = _second_step(client, code)
    if me["pending"] == "password":
        me = client.password.update(current=password, new=_new_password())
    if me["pending"] == "enrol":
        raise CarrelError(
            "auth.pending_enrol",
            "Your account must have a second factor, which is set up on the page.",
            status=403,
            hint=f"Sign in at {client.transport.target.url}, and then here again.",
        )
    return me


def _second_step(client: ApiClient, given: str | None) -> models.Me:
    code = given or _asked("Code of your device, or a recovery code: ", "Give --code.")
    digits = "".join(code.split())
    if digits.isdigit() and len(digits) == _CODE_DIGITS:
        return client.auth.factor(code=digits)
    return client.auth.factor(recovery_code=code)


def _new_password() -> str:
    new = _asked("You must change your password. New password: ", "Sign in on the page to change it.")
    if _asked("The same once more: ", "") != new:
        raise CarrelError("usage", "The two are not the same.", status=422, hint="Sign in again.")
    return new


def _asked(question: str, otherwise: str) -> str:
    """What somebody types, unseen. Raises: CarrelError where there is nobody to ask."""
    if not sys.stdin.isatty():
        raise no_terminal("There is no terminal to ask on.", otherwise)
    from getpass import getpass

    return getpass(question)
