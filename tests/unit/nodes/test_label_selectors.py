"""Label selectors: what they require, and why one is refused."""

import pytest

from carrel.engines.port import LabelRequirement
from carrel.nodes.groups.selectors import parse


def test_each_form_of_the_syntax_is_a_requirement():
    assert parse(
        "zone=eu-1, example.org/pool == a ,gpu in (a100,h100),tier notin(low, ),env!=test,ssd,!spot"
    ) == (
        LabelRequirement("zone", frozenset({"eu-1"})),
        LabelRequirement("example.org/pool", frozenset({"a"})),
        LabelRequirement("gpu", frozenset({"a100", "h100"})),
        LabelRequirement("tier", frozenset({"low", ""}), negated=True),
        LabelRequirement("env", frozenset({"test"}), negated=True),
        LabelRequirement("ssd"),
        LabelRequirement("spot", negated=True),
    )
    assert parse("in in (in)") == (LabelRequirement("in", frozenset({"in"})),)
    assert parse("rack=") == (LabelRequirement("rack", frozenset({""})),)


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
