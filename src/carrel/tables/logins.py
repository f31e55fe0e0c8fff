"""Tables of signing in. Tokens are known by their SHA-256 alone; what must be read again is sealed."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import UserId
from carrel.db.tables import Table


class LoginAttempts(Table):
    """Attempts to sign in since the last that succeeded, whether there is such a user or not.

    subject_hash: SHA-256 of "email:" and the e-mail in lower case, or of "address:" and the client's.
    at: of the newest attempt that was looked at.
    """

    __tablename__ = "login_attempts"
    __table_args__ = (Index("ix_login_attempts_at", "at"),)

    subject_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    tries: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Login(Table):
    """A signed-in browser. id: stays as it is while the token changes; public_id: what lists show.

    token_hash: SHA-256 of the cookie's token. renewal_due, offered, former_hash, former_until: see `renewals`.

    method: how they proved it: "password", "password+totp", "passkey", "<kind>:<provider>".
    pending: "factor" while the second step is missing; None: it is done. What the person must do besides
    before the sign-in counts ("password": a forced change, "enrol": a second factor that the site demands)
    follows from the user and the site, and is stored nowhere.
    confirmed_at: when they last proved that it is them.
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
    """Hashes of passwords that somebody had, so that they do not come back."""

    __tablename__ = "former_passwords"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    password_hash: Mapped[str]
    replaced_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class Totp(Table):
    """A time-based one-time-password device. secret: sealed. confirmed_at None: not yet proved once.

    last_step: the newest time step that was used, so that a code is good only once.
    """

    __tablename__ = "totps"

    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    confirmed_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_step: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))


class RecoveryCode(Table):
    """One use each. code_hash: SHA-256; a code has 80 random bits."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[UserId] = mapped_column(
        String, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)


class Passkey(Table):
    """A WebAuthn credential. public_key: COSE, as the authenticator gave it."""

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
    """Something that was sent out and must come back once, soon: a WebAuthn challenge, the state of a
    single sign-on. content: sealed JSON; empty when nothing must be known of it.
    """

    __tablename__ = "challenges"
    __table_args__ = (Index("ix_challenges_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[UserId | None] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class OneTimeLink(Table):
    """A link for one person, good once: purpose "password" sets a new one, "verify" proves the e-mail."""

    __tablename__ = "one_time_links"
    __table_args__ = (Index("ix_one_time_links_expires_at", "expires_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
