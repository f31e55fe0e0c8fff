"""Settings of the installation: what they are, their defaults, and how they travel."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from carrel.core.ids import DomainId, ProjectId
from carrel.http.rules import says


class Whom(StrEnum):
    NOBODY = "nobody"
    ADMINISTRATORS = "administrators"
    EVERYBODY = "everybody"


class MailTls(StrEnum):
    """NONE: in the open. STARTTLS: begins in the open, usually on port 587. TLS: usually on port 465."""

    NONE = "none"
    STARTTLS = "starttls"
    TLS = "tls"


HostName = Annotated[
    str,
    StringConstraints(max_length=253, pattern=r"^[A-Za-z0-9.:_-]*$", strip_whitespace=True),
    says("The name of a mail server is a host name or an address, such as smtp.example.org."),
]
EmailDomain = Annotated[
    str,
    StringConstraints(max_length=253, pattern=r"^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$", to_lower=True),
    says("What is behind the @ is a name such as example.org."),
]
EmailAddress = Annotated[
    str,
    StringConstraints(
        max_length=254,
        strip_whitespace=True,
        pattern=r"^[^@\s<>,;:\"\\\x00-\x1f\x7f]+@[^@\s<>,;:\"\\\x00-\x1f\x7f]+$",
    ),
    says("This is no e-mail address; one looks like ada@example.org and has at most 254 characters."),
]


class SiteSettings(BaseModel):
    """Every setting with its default. What an administrator has not set is the default of this version."""

    model_config = ConfigDict(extra="forbid")

    password_min_length: int = Field(
        default=10, ge=8, le=128, description="Characters of a password, at least."
    )
    password_classes: int = Field(
        default=2,
        ge=1,
        le=4,
        description="How many of these a password must have: small letters, capital "
        "letters, digits, other characters.",
    )
    password_refuse_common: bool = Field(default=True, description="Refuse passwords that are easy to guess.")
    password_history: int = Field(
        default=5, ge=0, le=24, description="How many of somebody's former passwords may not come back."
    )
    lock_attempts: int = Field(
        default=10, ge=3, le=100, description="Failures in a row after which an account is locked."
    )
    lock_address_attempts: int = Field(
        default=50,
        ge=3,
        le=10_000,
        description="Failures after which an address is locked, whatever the account.",
    )
    lock_minutes: int = Field(default=20, ge=1, le=1440, description="How long a lock lasts.")
    login_idle_minutes: int = Field(
        default=3 * 24 * 60,
        ge=5,
        le=90 * 24 * 60,
        description="A sign-in that is not used ends after so long.",
    )
    login_lifetime_hours: int = Field(
        default=14 * 24, ge=1, le=90 * 24, description="A sign-in ends after so long in any case."
    )
    second_factor: Whom = Field(default=Whom.NOBODY, description="Who must have a second factor.")
    sign_up: bool = Field(default=False, description="Whether people may make accounts of their own.")
    sign_up_email_domains: list[EmailDomain] = Field(
        default=[],
        max_length=100,
        description="Whose e-mail ends in one of these may sign up; empty: anybody.",
    )
    sign_up_domain: DomainId | None = Field(default=None, description="The domain that they come into.")
    sign_up_project: ProjectId | None = Field(default=None, description="The project that they come into.")
    sign_up_verification: bool = Field(
        default=True, description="Whether they must follow a link in a mail before they can sign in."
    )
    sign_up_keep_days: int = Field(
        default=7,
        ge=0,
        le=3650,
        description="Days after which an account that somebody made and never verified is deleted; 0: never.",
    )
    mail_host: HostName = Field(default="", description="The mail server; empty: no mail is sent.")
    mail_port: int = Field(default=587, ge=1, le=65_535, description="Its port.")
    mail_tls: MailTls = Field(default=MailTls.STARTTLS, description="How the connection to it is encrypted.")
    mail_user: str = Field(default="", max_length=254, description="Who signs in at it; empty: nobody.")
    mail_sender: EmailAddress | None = Field(default=None, description="The address that mail comes from.")
    api_rate_limit: int = Field(
        default=30_000,
        ge=100,
        le=10_000_000,
        description="Requests in 15 minutes, of each sign-in, keypair and token.",
    )
    nodes_visible: bool = Field(
        default=False,
        description="Whether everybody sees the nodes of the resource groups that they may use.",
    )
    audit_retention_days: int = Field(
        default=0, ge=0, le=36_500, description="How long the audit trail is kept; 0: for ever."
    )
    upload_most_bytes: int = Field(
        default=0, ge=0, le=2**62, description="Most bytes that one uploaded file may have; 0: any number."
    )
    trash_days: int = Field(
        default=30,
        ge=0,
        le=3650,
        description="Days that folders stay in the trash before they are deleted for good; 0: until somebody does.",
    )
    announcement: str = Field(
        default="",
        max_length=4000,
        description="Markdown that everybody sees on top of the page; empty: none.",
    )

    @property
    def sends_mail(self) -> bool:
        """Whether there is enough to send mail with."""
        return bool(self.mail_host and self.mail_sender)


class SiteUpdate(SiteSettings):
    """Only what is present changes. mail_password: null takes it away; it is never shown again."""

    mail_password: str | None = Field(default=None, max_length=1024)


class SiteView(SiteSettings):
    """mail_error: why mail could not be sent the last time; null when it could.

    mail_waiting: how many letters wait to be tried, or tried again.
    """

    mail_password_set: bool
    mail_error: str | None
    mail_error_at: datetime | None
    mail_waiting: int


class TestMail(BaseModel):
    to: EmailAddress


class TestMailResult(BaseModel):
    """error: what the mail server said, or why it could not be reached; null when it took the mail."""

    sent: bool
    error: str | None
