"""Unfinished uploads. The size of the file in the folder's stage is the only record of the bytes received."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, DateTime, ForeignKey, String, text
from sqlalchemy.orm import Mapped, mapped_column

from carrel.core.ids import FolderId, UploadId, UserId
from carrel.db.tables import Table
from carrel.storage.tree import Clash

_CLASHES = ", ".join(f"'{one}'" for one in Clash)


class Upload(Table):
    """length: total bytes; None while unknown. partial: a part of a later upload, without a path.

    parts: the partial uploads that it was concatenated from. done_path: of the finished file; None before. Finished
    uploads are kept until they expire, for clients that missed the last response.
    """

    __tablename__ = "uploads"
    __table_args__ = (CheckConstraint(f"clash IN ({_CLASHES})", name="clash"),)

    id: Mapped[UploadId] = mapped_column(String, primary_key=True)
    folder_id: Mapped[FolderId] = mapped_column(
        String, ForeignKey("vfolders.id", ondelete="CASCADE"), index=True
    )
    user_id: Mapped[UserId] = mapped_column(String, ForeignKey("users.id", ondelete="CASCADE"))
    path: Mapped[str]
    length: Mapped[int | None] = mapped_column(BigInteger)
    partial: Mapped[bool] = mapped_column(server_default=text("false"))
    parts: Mapped[list[str]] = mapped_column(ARRAY(String), server_default=text("'{}'"))
    done_path: Mapped[str | None]
    clash: Mapped[Clash] = mapped_column(String(10))
    metadata_text: Mapped[str] = mapped_column(server_default="")
    """The Upload-Metadata header as sent by the client."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
