"""Limits on open transfers of file contents, per user and per process.

An open transfer occupies a thread or up to some MiB of buffers until its client finishes; a client that does not read
or send is disconnected (`http.sendfile.SEND_TIMEOUT_S`, `arrivals.PROGRESS_TIMEOUT_S`).
"""

from collections import Counter
from typing import Self

from carrel.core.errors import TooMany, Unavailable
from carrel.core.ids import UserId

MOST_PER_PERSON = 16
MOST = 128
_RETRY_S = 5


class TooManyTransfers(TooMany):
    """Too many open transfers of one user, or of all users."""


class TransferLimits:
    """Open transfers of one direction in this process."""

    def __init__(self, *, most_per_person: int = MOST_PER_PERSON, most: int = MOST) -> None:
        self._most_per_person = most_per_person
        self._most = most
        self._open: Counter[UserId] = Counter()

    def open(self, person: UserId) -> "Slot":
        """A slot, to be closed at the end of the transfer. Raises: TooManyTransfers, Unavailable."""
        if self._open[person] >= self._most_per_person:
            raise TooManyTransfers(
                "file.too_many_transfers",
                f"You have reached your limit of {self._most_per_person} transfers.",
                hint="Wait until one of them ends, or cancel one.",
                details={"most": self._most_per_person, "retry_after_s": _RETRY_S},
            )
        if self._open.total() >= self._most:
            raise Unavailable(
                "file.server_busy",
                f"The server has reached its limit of {self._most} transfers.",
                hint="Try again in a moment.",
                details={"retry_after_s": _RETRY_S},
            )
        self._open[person] += 1
        return Slot(self, person)

    def _close(self, person: UserId) -> None:
        self._open[person] -= 1
        if not self._open[person]:
            del self._open[person]


class Slot:
    """The slot of one transfer. It is free after `close`, or when it is garbage collected."""

    def __init__(self, transfers: TransferLimits, person: UserId) -> None:
        self._transfers: TransferLimits | None = transfers
        self._person = person

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Twice: no-op."""
        transfers, self._transfers = self._transfers, None
        if transfers is not None:
            transfers._close(self._person)
