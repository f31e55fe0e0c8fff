"""Label selectors: what they require, and why one is refused."""

import pytest

from carrel.nodes.groups.selectors import Requirement, parse


def test_each_form_of_the_syntax_is_a_requirement():
    assert parse(
        "zone=eu-1, example.org/pool == a ,gpu in (a100,h100),tier notin(low, ),env!=test,ssd,!spot"
    ) == (
        Requirement("zone", frozenset({"eu-1"})),
        Requirement("example.org/pool", frozenset({"a"})),
        Requirement("gpu", frozenset({"a100", "h100"})),
        Requirement("tier", frozenset({"low", ""}), negated=True),
        Requirement("env", frozenset({"test"}), negated=True),
        Requirement("ssd"),
        Requirement("spot", negated=True),
    )
    assert parse("in in (in)") == (Requirement("in", frozenset({"in"})),)
    assert parse("rack=") == (Requirement("rack", frozenset({""})),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "lacks a label at its end"),
        ("a,", "lacks a label at its end"),
        ("a in b", "lacks ( before 'b'"),
        ("a in (b", "lacks ) at its end"),
        ("a b", "lacks a comma before 'b'"),
        ("!", "lacks a label at its end"),
        ("!a=b", "lacks a comma before '='"),
        ("a=b=c", "lacks a comma before '='"),
        ("a > 1", "an unexpected '>'"),
        ("a=ü", "an unexpected 'ü'"),
    ],
)
def test_a_selector_that_cannot_be_read_says_where(text: str, sentence: str):
    with pytest.raises(ValueError, match=r"^The label selector ") as error:
        parse(text)
    assert sentence in str(error.value)
