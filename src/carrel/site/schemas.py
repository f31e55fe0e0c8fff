"""Settings of the installation: what they are, their defaults, and how they travel."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from carrel.core.clock import is_time_zone
from carrel.core.ids import DomainId, ProjectId
from carrel.http.validation import SlotName, TimeZone, says
from carrel.scanners.reports import Severity


class Whom(StrEnum):
    NOBODY = "nobody"
    ADMINISTRATORS = "administrators"
    EVERYBODY = "everybody"


class ScanRule(StrEnum):
    """What happens to sessions whose image has vulnerabilities."""

    OFF = "off"
    WARN = "warn"
    REFUSE = "refuse"


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
ImportRule = Annotated[
    str,
    StringConstraints(
        max_length=300, pattern=r"^(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]+)?(/[A-Za-z0-9._~/-]*)?$"
    ),
    says(
        "A source is a host such as github.com, *.example.org or host:8443, and possibly a path: github.com/acme."
    ),
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


Price = Annotated[
    float,
    Field(ge=0, le=1_000_000, allow_inf_nan=False),
    says("A price is a number from 0 to 1000000."),
]
Currency = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Z]{3}$"),
    says("A currency is written as three letters, such as EUR, KRW or JPY."),
]


TimeOfDay = Annotated[
    str,
    StringConstraints(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$"),
    says("A time of day is written like 02:00 or 17:30."),
]


def _known(timezone: str) -> str:
    if not is_time_zone(timezone):
        raise ValueError("there is no such time zone")
    return timezone


KnownTimeZone = Annotated[TimeZone, AfterValidator(_known)]


class SiteSettings(BaseModel):
    """Every setting with its default. A setting that was never set has the default of the running version."""

    model_config = ConfigDict(extra="forbid")

    password_min_length: int = Field(default=10, ge=8, le=128, description="Minimum length of a password.")
    password_classes: int = Field(
        default=2,
        ge=1,
        le=4,
        description="Minimum number of character classes in a password: lowercase, uppercase, "
        "digits, others.",
    )
    password_refuse_common: bool = Field(default=True, description="Refuse passwords that are easy to guess.")
    password_history: int = Field(
        default=5, ge=0, le=24, description="Number of previous passwords that cannot be reused."
    )
    lock_attempts: int = Field(
        default=10, ge=3, le=100, description="Consecutive failures after which an account is locked."
    )
    lock_address_attempts: int = Field(
        default=50,
        ge=3,
        le=10_000,
        description="Failures after which an address is locked, regardless of the account.",
    )
    lock_minutes: int = Field(default=20, ge=1, le=1440, description="Duration of a lock.")
    login_idle_minutes: int = Field(
        default=3 * 24 * 60,
        ge=5,
        le=90 * 24 * 60,
        description="Idle time after which a sign-in expires.",
    )
    login_lifetime_hours: int = Field(
        default=14 * 24, ge=1, le=90 * 24, description="Maximum lifetime of a sign-in."
    )
    second_factor: Whom = Field(default=Whom.NOBODY, description="Who must use two-factor authentication.")
    sign_up: bool = Field(default=False, description="Whether people can create their own accounts.")
    sign_up_email_domains: list[EmailDomain] = Field(
        default=[],
        max_length=100,
        description="E-mail domains that can sign up; empty: any.",
    )
    sign_up_domain: DomainId | None = Field(default=None, description="The domain of new users.")
    sign_up_project: ProjectId | None = Field(default=None, description="The project of new users.")
    sign_up_verification: bool = Field(
        default=True, description="Whether new users must verify their e-mail before they can sign in."
    )
    sign_up_keep_days: int = Field(
        default=7,
        ge=0,
        le=3650,
        description="Days after which an unverified account is deleted; 0: never.",
    )
    mail_host: HostName = Field(default="", description="The mail server; empty: no mail is sent.")
    mail_port: int = Field(default=587, ge=1, le=65_535, description="Port of the mail server.")
    mail_tls: MailTls = Field(
        default=MailTls.STARTTLS, description="Encryption of the connection to the mail server."
    )
    mail_user: str = Field(
        default="", max_length=254, description="User name at the mail server; empty: none."
    )
    mail_sender: EmailAddress | None = Field(default=None, description="Sender address of mail.")
    webhook_private_addresses: bool = Field(
        default=False,
        description="Whether webhooks may reach private and loopback addresses, and the installation itself.",
    )
    api_rate_limit: int = Field(
        default=30_000,
        ge=100,
        le=10_000_000,
        description="Requests in 15 minutes, of each sign-in, keypair and token.",
    )
    nodes_visible: bool = Field(
        default=False,
        description="Whether users see the nodes of the resource groups that they can use.",
    )
    audit_retention_days: int = Field(
        default=0, ge=0, le=36_500, description="Retention of the audit trail; 0: forever."
    )
    statistics_retention_days: int = Field(
        default=0, ge=0, le=36_500, description="Days of statistics to keep; 0: all."
    )
    upload_most_bytes: int = Field(
        default=0, ge=0, le=2**62, description="Maximum size of an uploaded file; 0: unlimited."
    )
    trash_days: int = Field(
        default=30,
        ge=0,
        le=3650,
        description="Days until folders in the trash are deleted permanently; 0: never automatically.",
    )
    image_cleanup_days: int = Field(
        default=0,
        ge=0,
        le=3650,
        description="Days without use after which images that Carrel pulled are removed from nodes; 0: never.",
    )
    image_cleanup_free_percent: int = Field(
        default=0,
        ge=0,
        le=90,
        description="Free space of a node's disk, in percent, below which unused images that Carrel pulled are "
        "removed; 0: never.",
    )
    image_watch_start: TimeOfDay = Field(
        default="02:00", description="When the daily checks of watched images begin, such as 02:00."
    )
    image_watch_end: TimeOfDay = Field(
        default="05:00", description="When they end; the same time as the beginning: they go on all day."
    )
    image_watch_timezone: KnownTimeZone = Field(
        default="UTC", description="Time zone of the daily checks, such as Asia/Seoul."
    )
    slot_prices: dict[SlotName, Price] = Field(
        default={},
        max_length=50,
        description="Price per slot-hour of one core (cpu), GiB (mem) or device, shown in statistics; empty: no costs.",
        examples=[{"cpu": 0.02, "mem": 0.005, "cuda.device": 1.5}],
    )
    currency: Currency = Field(default="EUR", description="Currency of the prices.")
    session_metrics: bool = Field(
        default=False, description="Whether /metrics includes the usage of each running container."
    )
    import_sources: list[ImportRule] = Field(
        default=[],
        max_length=100,
        description="Hosts that Import & Run accepts: github.com, github.com/acme, *.example.org; empty: all.",
    )
    image_scan_rule: ScanRule = Field(
        default=ScanRule.OFF,
        description="Whether people are warned of images with vulnerabilities, or cannot start sessions from them.",
    )
    image_scan_severity: Severity = Field(
        default=Severity.CRITICAL, description="The least severity that the rule is about."
    )
    image_scan_fixable_only: bool = Field(
        default=False,
        description="Whether the rule is only about vulnerabilities for which a fixed version is known.",
    )
    image_scan_min_epss_percent: int = Field(
        default=0,
        ge=0,
        le=100,
        description="The least EPSS, the probability of exploitation within 30 days, that the rule is about; "
        "vulnerabilities for which the scanner reports none count.",
    )
    image_scan_grace_days: int = Field(
        default=0,
        ge=0,
        le=365,
        description="Days after a vulnerability is found in an image, in which people are only warned.",
    )
    image_scan_hours: int = Field(
        default=24, ge=1, le=24 * 90, description="Hours after which an image is scanned again."
    )
    announcement: str = Field(
        default="",
        max_length=4000,
        description="Markdown that everybody sees at the top of the page; empty: none.",
    )

    @property
    def sends_mail(self) -> bool:
        """True if a mail server is configured."""
        return bool(self.mail_host and self.mail_sender)


class SiteUpdate(SiteSettings):
    """Omitted fields keep their values. mail_password: null removes it; it is never shown."""

    mail_password: str | None = Field(default=None, max_length=1024)


class SiteView(SiteSettings):
    """mail_error: last error of sending mail; null after a success.

    mail_waiting: number of queued mails.
    """

    mail_password_set: bool
    mail_error: str | None
    mail_error_at: datetime | None
    mail_waiting: int


class TestMail(BaseModel):
    to: EmailAddress


class TestMailResult(BaseModel):
    """error: of the mail server or the connection to it; null if it accepted the mail."""

    sent: bool
    error: str | None
