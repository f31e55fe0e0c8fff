"""The end of a byte stream, addressed by position."""


class OutputBuffer:
    """Keeps the last `capacity` bytes. Positions count from the stream's first byte."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept = bytearray()
        self.start = 0
        """Position of the oldest buffered byte."""

    @property
    def end(self) -> int:
        """Position of the next byte."""
        return self.start + len(self._kept)

    def append(self, chunk: bytes) -> None:
        self._kept += chunk
        surplus = len(self._kept) - self._capacity
        if surplus > 0:
            del self._kept[:surplus]
            self.start += surplus

    def read(self, position: int, limit: int) -> bytes:
        """At most this many bytes from the position on; empty at the end."""
        begin = max(position - self.start, 0)
        return bytes(self._kept[begin : begin + limit])

    def nearest(self, position: int) -> int:
        """The position itself, or the closest one from which `read` can continue.

        If bytes are missing, it is after a nearby line break, so that reading does not start inside a character or
        control sequence.
        """
        if self.start <= position <= self.end:
            return position
        if position > self.end:
            return self.end
        line_break = self._kept.find(b"\n", 0, _NEARBY)
        return self.start + line_break + 1


_NEARBY = 4096
