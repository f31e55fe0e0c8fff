"""Tables of sign-in. Tokens are stored as SHA-256 only; values that must be read again are sealed."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import UserId
from carrel.db.tables import Table


class LoginAttempts(Table):
    """Sign-in attempts since the last success, for known and unknown users.

    subject_hash: SHA-256 of "email:" and the e-mail in lower case, or of "address:" and the client's.
    at: of the newest attempt that was verified.
    """

    __tablename__ = "login_attempts"
    __table_args__ = (Index("ix_login_attempts_at", "at"),)

    subject_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    tries: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Login(Table):
    """A signed-in browser. id: stable when the token changes; public_id: shown in lists.

    token_hash: SHA-256 of the cookie's token. renewal_due, offered, former_hash, former_until: see `renewals`.

    method: of authentication: "password", "password+totp", "passkey", "<kind>:<provider>".
    pending: "factor" while the second step is missing; None: it is done. Further requirements ("password": a forced
    change, "enrol": a second factor that the site requires) follow from the user and the site, and are not stored.
    confirmed_at: time of the last authentication.
    """

    __tablename__ = "logins"
    __table_args__ = (
        Index("uq_logins_public_id", "public_id", unique=True),
        Index("uq_logins_token_hash", "token_hash", unique=True),
        Index("uq_logins_former_hash", "former_hash", unique=True),
    )

    id: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    public_id: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary)
    renewal_due: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    offered: Mapped[bytes | None] = mapped_column(LargeBinary)
    former_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    former_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    csrf_token: Mapped[str]
    method: Mapped[str] = mapped_column(String(80), server_default="password")
    pending: Mapped[str | None] = mapped_column(String(10))
    address: Mapped[str]
    device: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    confirmed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class FormerPassword(Table):
    """Hashes of a user's former passwords, to prevent reuse."""

    __tablename__ = "former_passwords"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    password_hash: Mapped[str]
    replaced_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Totp(Table):
    """A time-based one-time-password device. secret: sealed. confirmed_at None: not yet verified by a code.

    last_step: the newest used time step, so that a code is valid only once.
    """

    __tablename__ = "totps"

    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    confirmed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_step: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class RecoveryCode(Table):
    """Valid once. code_hash: SHA-256; a code has 80 random bits."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)


class Passkey(Table):
    """A WebAuthn credential. public_key: COSE, as sent by the authenticator."""

    __tablename__ = "passkeys"

    id: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(64))
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    transports: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class Challenge(Table):
    """A one-time value with a short expiry: a WebAuthn challenge, or the state of a single sign-on.

    content: sealed JSON; empty when nothing needs to be stored.
    """

    __tablename__ = "challenges"
    __table_args__ = (Index("ix_challenges_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class OneTimeLink(Table):
    """A user's link, valid once: purpose "password" sets a new password, "verify" verifies the e-mail."""

    __tablename__ = "one_time_links"
    __table_args__ = (Index("ix_one_time_links_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
