"""Credentials of scripts, and SSH keys."""

from datetime import datetime

from sqlalchemy import ARRAY, DateTime, ForeignKey, Index, Integer, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import PolicyId, UserId
from carrel.db.tables import Table


class Keypair(Table):
    """secret_hash: SHA-256; the secret is 256 random bits, so a slow hash would add nothing.

    rate_limit: requests per 15 minutes; None: the installation's.
    """

    __tablename__ = "keypairs"

    access_key: Mapped[str] = mapped_column(String(24), primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(64), server_default="")
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary)
    active: Mapped[bool] = mapped_column(default=True)
    rate_limit: Mapped[int | None] = mapped_column(Integer)
    policy_id: Mapped[PolicyId] = mapped_column(
        String, ForeignKey("resource_policies.id"), server_default="default-keypair", index=True
    )
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    rotated_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class Token(Table):
    """A personal token, shown once. scopes: names of actions, or a kind with ".*"."""

    __tablename__ = "tokens"
    __table_args__ = (Index("uq_tokens_token_hash", "token_hash", unique=True),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(64))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary)
    scopes: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class SshKey(Table):
    """A user's public key, in the format of authorized_keys. fingerprint: SHA256:..."""

    __tablename__ = "ssh_keys"
    __table_args__ = (Index("uq_ssh_keys_user_id_fingerprint", "user_id", "fingerprint", unique=True),)

    id: Mapped[str] = mapped_column(String, primary_key=True)
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(64))
    public_key: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(String(60))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
