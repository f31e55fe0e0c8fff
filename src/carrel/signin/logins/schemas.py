"""API types of signing in."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from carrel.http.paging import PageQuery
from carrel.http.validation import says
from carrel.tenancy.schemas import Email, PersonName, ProjectMembership, UserProfile, UserRef

Password = Annotated[str, StringConstraints(max_length=1024)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=200)]
PasskeyName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, strip_whitespace=True),
    says("The name of a passkey has 1 to 64 characters."),
]
Encoded = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[A-Za-z0-9_-]*={0,2}$")]


class LoginRequest(BaseModel):
    email: str = Field(max_length=254, examples=["ada@example.org"])
    password: Password


class Me(BaseModel):
    """csrf_token: pages send it in X-Carrel-CSRF; null for a keypair or token.

    pending: the missing sign-in step: "factor" (POST /auth/factor), "password" (POST /auth/password) or "enrol"
    (register a second factor); null when it is complete.
    actions: your permitted actions, each with its scope: "own", "project", "domain" or "all"; without node.read where
    only superadmins see nodes.
    """

    user: UserProfile
    projects: list[ProjectMembership]
    csrf_token: str | None
    pending: str | None = None
    actions: dict[str, str]


class PasskeyResponse(BaseModel):
    """The browser's response: attestationObject after creating a passkey, the other fields after using one."""

    clientDataJSON: Encoded
    attestationObject: Encoded | None = None
    authenticatorData: Encoded | None = None
    signature: Encoded | None = None
    userHandle: Encoded | None = None
    transports: list[Annotated[str, StringConstraints(max_length=20)]] = Field(default=[], max_length=8)


class PasskeyCredential(BaseModel):
    """A PublicKeyCredential as from `toJSON()` in browsers; unknown fields are ignored."""

    id: Encoded
    rawId: Encoded
    type: str = Field(max_length=20, examples=["public-key"])
    response: PasskeyResponse

    def plain(self) -> dict[str, Any]:
        """The credential as a dictionary, without omitted fields."""
        return self.model_dump(exclude_none=True)


class PasskeyLogin(BaseModel):
    credential: PasskeyCredential


class SecondFactor(BaseModel):
    """The second step: exactly one of a code of your device, a recovery code, or a passkey."""

    code: Secret | None = None
    recovery_code: Secret | None = None
    passkey: PasskeyCredential | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            names = ", ".join(type(self).model_fields)
            raise PydanticCustomError("rule", "{sentence}", {"sentence": f"Give exactly one of {names}."})
        return self


class Proof(SecondFactor):
    """Re-authentication: exactly one of your password, a code of your device, a recovery code, or a passkey."""

    password: Password | None = None


class PasswordChange(BaseModel):
    current: Password
    new: Password


class ForgotRequest(BaseModel):
    email: str = Field(max_length=254, examples=["ada@example.org"])


class ResetRequest(BaseModel):
    """token: from the link."""

    token: Secret
    password: Password


class SignUpRequest(BaseModel):
    email: Email
    name: PersonName
    password: Password


class VerifyRequest(BaseModel):
    """token: from the link."""

    token: Secret


class RecoveryLink(BaseModel):
    """url: for the user only; usable once, until expires_at. Setting a password ends all their sign-ins."""

    url: str
    expires_at: datetime


class PasskeyView(BaseModel):
    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class FactorsView(BaseModel):
    """totp_since: when your device was activated; null: no device. required: the site requires a second factor.

    passkeys_possible: whether browsers support passkeys for this page's address.
    """

    totp_since: datetime | None
    passkeys: list[PasskeyView]
    recovery_codes_left: int
    required: bool
    passkeys_possible: bool


class TotpOffer(BaseModel):
    """For an authenticator app. url: as otpauth://; qr_svg: the same as a QR code."""

    secret: str
    url: str
    qr_svg: str


class TotpConfirm(BaseModel):
    code: Secret


class FactorAdded(BaseModel):
    """recovery_codes: shown only once; empty if you had some already.

    csrf_token: as in Me, because a sign-in that waited for this factor now has a new token.
    """

    recovery_codes: list[str]
    csrf_token: str | None


class PasskeyAdded(FactorAdded):
    passkey: PasskeyView


class RecoveryCodes(BaseModel):
    """Each is valid once, in place of a code of your device; shown only once."""

    recovery_codes: list[str]


class PasskeyOptions(BaseModel):
    """For navigator.credentials, through PublicKeyCredential.parse...OptionsFromJSON(); valid for 5 minutes."""

    options: dict[str, Any]


class PasskeyCreate(BaseModel):
    name: PasskeyName
    credential: PasskeyCredential


class PasskeyUpdate(BaseModel):
    name: PasskeyName


class LoginView(BaseModel):
    """browser, system: from the User-Agent header, else "". current: the sign-in of this request."""

    id: str
    user: UserRef
    browser: str
    system: str
    address: str
    method: str
    pending: str | None
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    current: bool


class LoginQuery(PageQuery):
    """user: id or e-mail; omitted: your own sign-ins."""

    user: str | None = Field(default=None, max_length=254)


class LoginList(BaseModel):
    items: list[LoginView]
    next_cursor: str | None


class LoginsEnded(BaseModel):
    ended: int
