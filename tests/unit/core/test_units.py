"""Amounts as people write and read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.units import (
    add,
    format_duration,
    format_size,
    format_slot,
    parse_cpu,
    parse_size,
    parse_slots,
    subtract,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1024", 1024),
        ("512m", 512 << 20),
        ("512M", 512 << 20),
        ("1.5GiB", 3 << 29),
        ("2g", 2 << 30),
        ("2 GB", 2 << 30),
        (" 1k ", 1024),
        ("1KiB", 1024),
        ("3t", 3 << 40),
        ("1p", 1 << 50),
        ("7b", 7),
    ],
)
def test_sizes(text: str, expected: int):
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "m", "-1", "1x", "1 2", "one", "1e3", "1..2", "1gg", "∞", "0x10"])
def test_what_is_no_size_is_named(text: str):
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("1", 1000), ("0.5", 500), ("250m", 250), ("2.0", 2000), (" 1 ", 1000)]
)
def test_cpus(text: str, expected: int):
    assert parse_cpu(text) == expected


@pytest.mark.parametrize("text", ["", "m", "one", "1.5m", "1 core"])
def test_what_is_no_cpu_is_named(text: str):
    with pytest.raises(ValueError, match="is not a number of CPUs"):
        parse_cpu(text)


@pytest.mark.parametrize(
    ("slot", "amount", "expected"),
    [
        ("cpu", 1500, "1.5 CPU"),
        ("cpu", 1000, "1 CPU"),
        ("cpu", 10, "0.01 CPU"),
        ("mem", 1 << 30, "1 GiB"),
        ("mem", 3 << 29, "1.5 GiB"),
        ("mem", 0, "0 B"),
        ("mem", 1 << 60, "1024 PiB"),
        ("cuda.shares", 300, "0.3 cuda.shares"),
    ],
)
def test_amounts_for_people(slot: str, amount: int, expected: str):
    assert format_slot(slot, amount) == expected


@given(st.integers(0, 1 << 55))
def test_a_size_is_read_back_within_what_one_decimal_holds(size: int):
    again = parse_size(format_size(size))
    assert abs(again - size) <= max(size * 0.05, 0.05 * 1024)


slots = st.dictionaries(st.sampled_from(["cpu", "mem", "cuda.device"]), st.integers(0, 1 << 40))


@given(slots, slots)
def test_what_is_added_can_be_taken_away(left: dict[str, int], right: dict[str, int]):
    back = subtract(add(left, right), right)
    assert {slot: amount for slot, amount in back.items() if amount} == {s: a for s, a in left.items() if a}


def test_slots_are_numbers_or_as_people_write_them():
    slots = {"cpu": "1.5", "mem": "2g", "cuda.device": "2", "cuda.shares": "0.5", "sessions": 3}
    assert parse_slots(slots) == {
        "cpu": 1500,
        "mem": 2 << 30,
        "cuda.device": 2,
        "cuda.shares": 500,
        "sessions": 3,
    }
    with pytest.raises(ValueError, match="cpu is less than nothing"):
        parse_slots({"cpu": -1})
    with pytest.raises(ValueError, match=r"'some' is not an amount of cuda\.device"):
        parse_slots({"cuda.device": "some"})


def test_durations_are_said_in_one_unit():
    texts = [format_duration(each) for each in (0, 45, 210, 7200, 3 * 86400 + 43200)]
    assert texts == ["0 s", "45 s", "3.5 min", "2 h", "3.5 d"]
