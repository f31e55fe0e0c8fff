"""Points come back as they were packed, in few bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.usage import chunks

_ROWS = st.lists(
    st.tuples(*[st.integers(-1, 2**62)] * 3),
    min_size=1,
    max_size=70,
)


@given(_ROWS)
def test_points_come_back_as_they_were(rows: list[tuple[int, ...]]) -> None:
    assert chunks.unpack(chunks.pack(np.array(rows))).tolist() == [list(row) for row in rows]


def test_an_hour_of_a_quiet_container_takes_few_bytes() -> None:
    points = np.array([[60 * minute, 3, 200 << 20, -1, -1, 0, 0, 0, 0, 4096] for minute in range(60)])
    assert len(chunks.pack(points)) < 150 < points.nbytes / 30


def test_a_later_format_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown format"):
        chunks.unpack(b"\x02\x01rest")
