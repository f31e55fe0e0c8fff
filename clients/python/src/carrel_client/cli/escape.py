"""The escape sequence of a raw terminal: Enter, tilde, dot, as in ssh."""

from __future__ import annotations

_TILDE, _DOT = b"~", b"."


class Escape:
    """Detects the escape sequence in the input, also across chunks."""

    def __init__(self) -> None:
        self._line_is_new = True
        self._tilde_held = False

    def feed(self, typed: bytes) -> tuple[bytes, bool]:
        """The bytes to forward, and whether the user leaves.

        A tilde at the start of a line is held until the next key.
        """
        passed = bytearray()
        for number in typed:
            key = bytes((number,))
            if self._tilde_held:
                self._tilde_held = False
                if key == _DOT:
                    return bytes(passed), True
                passed += b"" if key == _TILDE else _TILDE
            elif self._line_is_new and key == _TILDE:
                self._tilde_held = True
                continue
            passed += key
            self._line_is_new = key in (b"\r", b"\n")
        return bytes(passed), False
