"""Services of identity provider routes."""

from dataclasses import dataclass

from carrel.signin.logins.services import SignInServices
from carrel.signin.providers.adapters import Adapters
from carrel.signin.providers.sign_on import Directories


@dataclass(frozen=True, kw_only=True)
class ProviderServices(SignInServices):
    """`providers`: the clients of the identity providers."""

    elsewhere: Directories
    providers: Adapters
