"""References in the texts of templates: what is replaced, what stays, and that escaping loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.sessions.templates import placeholders

TEXTS = st.text(alphabet="$ab{}_ \n", max_size=40)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("train --epochs ${n}", "train --epochs 3"),
        ("${n}${tag}", "3red"),
        ("$n $(date) $$ $", "$n $(date) $$ $"),
        ("echo $${HOME}", "echo ${HOME}"),
        ("$$${n} dollars", "$3 dollars"),
        ("$$$${n}", "$${n}"),
        ("{n} ${tag}}", "{n} red}"),
    ],
)
def test_references_are_replaced_and_other_dollars_stay(text: str, result: str):
    assert placeholders.substitute(text, {"n": "3", "tag": "red"}) == result


@pytest.mark.parametrize("text", ["${", "${}", "a ${1x}", "${HOME:-/root}", "${a b}", "$$${"])
def test_what_is_no_reference_is_refused_with_the_way_to_write_it(text: str):
    with pytest.raises(ValueError, match=r"write \$\$\{ for the text itself"):
        placeholders.substitute(text, {})


def test_values_are_not_read_again():
    assert placeholders.substitute("${a}", {"a": "${b} $${c}"}) == "${b} $${c}"


@given(TEXTS)
def test_an_escaped_text_refers_to_nothing_and_gives_the_same_text(text: str):
    escaped = placeholders.escape(text)
    assert list(placeholders.names(escaped)) == []
    assert placeholders.substitute(escaped, {}) == text


@given(TEXTS, TEXTS, TEXTS)
def test_a_value_stands_between_any_texts(before: str, value: str, after: str):
    # Dollars right before a reference are doubled, too.
    dollars = len(before) - len(before.rstrip("$"))
    text = placeholders.escape(before) + "$" * dollars + "${a}" + placeholders.escape(after)
    assert placeholders.substitute(text, {"a": value}) == before + value + after


def test_a_text_does_not_grow_without_limit():
    with pytest.raises(ValueError, match="more than 200,000 characters"):
        placeholders.substitute("${a}" * 1000, {"a": "x" * 1000})


def test_texts_of_a_value_are_changed_but_no_keys_and_numbers():
    value = {"${a}": ["${a}", 1, True, None, {"b": "${a}"}]}
    assert placeholders.changed(value, str.upper) == {"${a}": ["${A}", 1, True, None, {"b": "${A}"}]}
    assert list(placeholders.texts(value)) == [(("${a}", "0"), "${a}"), (("${a}", "4", "b"), "${a}")]


def test_a_value_that_is_nested_too_deeply_is_refused():
    value: object = "x"
    for _ in range(2000):
        value = [value]
    for read in (lambda: list(placeholders.texts(value)), lambda: placeholders.changed(value, str)):
        with pytest.raises(ValueError, match="nested too deeply"):
            read()
