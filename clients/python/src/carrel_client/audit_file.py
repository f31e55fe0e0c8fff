"""Verify an exported audit trail (JSON lines of `carrel audit export`) without a server."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_START = "0" * 64
_SHOWN = 100
_STEP_BYTES = 1 << 20
_LINE = re.compile(
    rb'\{"position": (?:(\d{1,18})|null), "hash": (?:"([0-9a-f]{64})"|null), '
    rb'"before": (?:"([0-9a-f]{64})"|null), "entry": (\{.*\})\}\s*'
)


class SavedTrail:
    """Reads lines in any order and reports errors at the end.

    Each entry is hashed together with the previous hash, and the link is verified as soon as both entries were read.
    Only entries that wait for a neighbour are kept, which are few in a complete trail.
    checked, waiting: entries that are sealed, and that are not yet.
    """

    def __init__(self, *, expect: str | None = None) -> None:
        self.checked = 0
        self.waiting = 0
        self.faults: list[models.AuditFault] = []
        self._expected = _place(expect) if expect else None
        self._cuts = {(0, _START)}
        self._ends: dict[int, str] = {}
        self._starts: dict[int, str] = {}

    @property
    def check(self) -> models.AuditCheck:
        """The result, in the server's format."""
        first = min(self._starts, default=1)
        return {
            "checked": self.checked,
            "reached": self.head["position"],
            "done": True,
            "head": self.head,
            "start": {"position": first - 1, "hash": self._starts.get(first, _START)},
            "cut_at": None,
            "waiting": self.waiting,
            "faults": self.faults,
        }

    @property
    def head(self) -> models.AuditLink:
        """The head of the chain that was read."""
        last = max(self._ends, default=0)
        return {"position": last, "hash": self._ends.get(last, _START)}

    def read(self, lines: Iterable[bytes]) -> Iterator[int]:
        """Verify every line; yields the number of bytes read periodically."""
        size = reported = 0
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._look(number, line)
            size += len(line)
            if size - reported > _STEP_BYTES:
                reported = size
                yield size

    def finish(self, *, partial: bool = False) -> None:
        """Report gaps. partial: missing entries are allowed."""
        ends, starts = sorted(self._ends), sorted(self._starts)
        gaps = list(zip(ends, starts[1:], strict=False))
        length = sum(last - first + 1 for first, last in zip(starts, ends, strict=False))
        if length != self.checked or any(first <= last for last, first in gaps):
            self._fault("altered", 0, "Some positions occur more than once.")
        if not partial:
            self._miss(gaps)
        if self._expected and self._expected[0] > self.head["position"]:
            position = self._expected[0]
            self._fault(
                "cut",
                self.head["position"] + 1,
                f"The file ends at position {self.head['position']}, but an earlier check reached {position}.",
            )

    def _miss(self, gaps: Iterable[tuple[int, int]]) -> None:
        start = self.check["start"]
        if (start["position"], start["hash"]) not in self._cuts:
            self._fault(
                "cut",
                1,
                f"The entries up to position {start['position']} are not in this file, and no entry records their "
                "removal by retention.",
            )
        for last, first in gaps:
            if first > last + 1:
                which = (
                    f"Entry {last + 1} is" if first == last + 2 else f"Entries {last + 1} to {first - 1} are"
                )
                self._fault("missing", last + 1, f"{which} not in this file.")

    def _look(self, number: int, line: bytes) -> None:
        match = _LINE.fullmatch(line)
        if match is None:
            self._fault("altered", 0, f"Line {number} is not a line of an export.")
            return
        position, own, before, entry = match.groups()
        if b'"action": "audit.prune"' in entry:
            details = json.loads(entry)["details"]
            self._cuts.add((details["position"], details["hash"]))
        if position is None:
            self.waiting += 1
            return
        self.checked += 1
        self._join(int(position), (own or b"").decode(), (before or b"").decode(), entry)

    def _join(self, position: int, own: str, before: str, entry: bytes) -> None:
        line = f"{before} {position} ".encode() + entry
        if hashlib.sha256(line).hexdigest() != own or (position == 1 and before != _START):
            self._altered(position)
        neighbour = self._ends.pop(position - 1, None)
        if neighbour is None:
            self._starts[position] = before
        elif neighbour != before:
            self._altered(position)
        follower = self._starts.pop(position + 1, None)
        if follower is None:
            self._ends[position] = own
        elif follower != own:
            self._altered(position + 1)
        if self._expected and position == self._expected[0] and own != self._expected[1]:
            self._fault("rewritten", position, f"The hash of entry {position} differs from the recorded one.")

    def _altered(self, position: int) -> None:
        self._fault(
            "altered",
            position,
            f"Entry {position} does not match its seal: its content, its position or its link to entry "
            f"{position - 1} was altered.",
        )

    def _fault(self, kind: models.FaultKind, position: int, sentence: str) -> None:
        if len(self.faults) < _SHOWN:
            self.faults.append({"kind": kind, "position": position, "entry_id": None, "sentence": sentence})


def _place(text: str) -> tuple[int, str]:
    position, _, digest = text.partition(":")
    return int(position), digest.lower()
