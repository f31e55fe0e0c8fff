"""Services of sign-in routes."""

from dataclasses import dataclass

from carrel.signin.logins.authenticator import Authenticator
from carrel.signin.logins.service import PasswordDirectory
from carrel.site.services import MailServices


@dataclass(frozen=True, kw_only=True)
class SignInServices(MailServices):
    """`elsewhere`: verifies passwords that do not match locally."""

    authenticator: Authenticator
    elsewhere: PasswordDirectory
