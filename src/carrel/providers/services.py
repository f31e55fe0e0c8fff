"""What routes of identity providers work with."""

from dataclasses import dataclass

from carrel.logins.services import SignInServices
from carrel.providers.adapters import Adapters
from carrel.providers.sign_on import Directories


@dataclass(frozen=True, kw_only=True)
class ProviderServices(SignInServices):
    """`providers`: connections to identity providers, one for each."""

    elsewhere: Directories
    providers: Adapters
