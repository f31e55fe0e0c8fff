"""What is read of images, without a registry."""

from datetime import UTC, datetime

import pytest

from carrel.images.registries.manifests import _time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-01T02:00:00+09:00", datetime(2026, 2, 28, 17, tzinfo=UTC)),
        ("2026-03-01T02:00:00", datetime(2026, 3, 1, 2, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_times_of_images_are_those_that_can_be_stored_and_read(text: object, time: datetime | None) -> None:
    assert _time(text) == time
