"""Settings of identity providers: those of every kind, and shared types."""

from abc import ABC, abstractmethod
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

Word = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")]
Text = Annotated[str, StringConstraints(max_length=1024, strip_whitespace=True)]
GivenText = Annotated[str, StringConstraints(min_length=1, max_length=1024, strip_whitespace=True)]
Secret = Annotated[SecretStr, Field(min_length=1, max_length=1024)]
Certificates = Annotated[
    str,
    StringConstraints(max_length=100_000),
    Field(
        title="Certificates to trust besides those of the machine (PEM)",
        json_schema_extra={"format": "textarea"},
    ),
]
_EmailDomain = Annotated[
    str, StringConstraints(max_length=253, pattern=r"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$", to_lower=True)
]


class SharedSettings(BaseModel):
    """Settings of every kind of provider, used by Carrel itself."""

    model_config = ConfigDict(frozen=True)

    label: str = Field(
        default="",
        max_length=64,
        title="What the sign-in page calls it",
        description="Empty: its name.",
    )
    create_users: bool = Field(default=True, title="People who come for the first time get an account")
    trusted_email_domains: list[_EmailDomain] = Field(
        default=[],
        max_length=100,
        title="E-mails that it decides about",
        description="An account that has such an e-mail already is given to whoever the provider says has it.",
        examples=[["example.org"]],
    )
    may_appoint_superadmins: bool = Field(default=False, title="Its groups may make superadmins")


class ProviderSettings(SharedSettings, ABC):
    """The base of each kind's settings model. Secrets are `SecretStr`."""

    @property
    @abstractmethod
    def server(self) -> str:
        """The location of the provider, such as its address. A change requires entering secrets again: they belong to
        the previous server.
        """
