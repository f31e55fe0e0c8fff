"""The memory of a terminal, and the reasons with which its socket closes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from carrel.apps.buffer import OutputBuffer
from carrel.apps.denials import close_code, close_reason
from carrel.core.errors import Conflict


@given(st.lists(st.binary(max_size=30)), st.integers(0, 200), st.integers(1, 50))
def test_what_is_kept_is_the_end_of_the_stream(chunks: list[bytes], position: int, limit: int) -> None:
    ring, stream = OutputBuffer(64), b"".join(chunks)
    for chunk in chunks:
        ring.append(chunk)
    assert ring.end == len(stream)
    assert ring.end - ring.start <= 64
    start = ring.nearest(position)
    assert ring.start <= start <= ring.end
    if ring.start <= position <= ring.end:
        assert start == position
    assert ring.read(start, limit) == stream[start : start + limit]


def test_reading_begins_after_a_line_break_when_something_is_missing() -> None:
    ring = OutputBuffer(10)
    ring.append(b"gone\xe2\x82\xac\nnext")
    assert ring.start > 0
    assert ring.read(ring.nearest(0), 100) == b"next"


@given(st.text(max_size=300))
def test_reason_fits_a_close_frame(detail: str) -> None:
    error = Conflict("session.not_running", detail)
    reason = close_reason(error)
    assert len(reason.encode()) <= 123
    problem = json.loads(reason)
    assert problem["code"] == "session.not_running"
    assert detail.startswith(problem["detail"])
    assert close_code(error) == 4409
