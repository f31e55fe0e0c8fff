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
        title="Additional CA certificates (PEM)",
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
        title="Display name",
        description="If empty, the name is shown.",
    )
    create_users: bool = Field(default=True, title="Create accounts at first sign-in")
    trusted_email_domains: list[_EmailDomain] = Field(
        default=[],
        max_length=100,
        title="Trusted e-mail domains",
        description="Domains such as example.org. A sign-in with such an address is linked to the existing account "
        "that has it.",
        examples=[["example.org"]],
    )
    may_appoint_superadmins: bool = Field(default=False, title="Groups can grant the superadmin role")


class ProviderSettings(SharedSettings, ABC):
    """The base of each kind's settings model. Secrets are `SecretStr`."""

    @property
    @abstractmethod
    def server(self) -> str:
        """The location of the provider, such as its address. A change requires entering secrets again: they belong to
        the previous server.
        """
