"""Label selectors in the syntax of Kubernetes, such as `zone=eu-1,gpu in (a100,h100),!spot`.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

import re
from collections.abc import Iterable
from typing import NoReturn

from sqlalchemy import ColumnElement, and_, false, func, not_, type_coerce
from sqlalchemy.dialects.postgresql import JSONB

from carrel.engines.port import LabelRequirement
from carrel.tables.nodes import Node

_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_TOKEN = re.compile(rf"\s*(==|!=|[=!,()]|{_WORD}(?:/{_WORD})?)")
_LABELS = type_coerce(Node.labels.concat(Node.own_labels), JSONB)


def parse(text: str) -> tuple[LabelRequirement, ...]:
    """The requirements, all of which must be met. Raises: ValueError with a sentence."""
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"The label selector has an unexpected {text[at:].strip()[0]!r}.")
        tokens.append(match[1])
        at = match.end()
    return _Parser(tokens).selector()


def meets(requirements: Iterable[LabelRequirement]) -> ColumnElement[bool]:
    """A condition for the nodes whose labels meet all of them."""
    return and_(*[_meets(one) for one in requirements])


def _meets(one: LabelRequirement) -> ColumnElement[bool]:
    there: ColumnElement[bool]
    if one.values is None:
        there = _LABELS.has_key(one.key)
    else:
        there = func.coalesce(_LABELS[one.key].astext.in_(sorted(one.values)), false())
    return not_(there) if one.negated else there


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def selector(self) -> tuple[LabelRequirement, ...]:
        parts = [self._requirement()]
        while self._took(","):
            parts.append(self._requirement())
        if self._at < len(self._tokens):
            self._fail("a comma")
        return tuple(parts)

    def _requirement(self) -> LabelRequirement:
        if self._took("!"):
            return LabelRequirement(self._word("a label"), negated=True)
        key = self._word("a label")
        if self._took("=", "=="):
            return LabelRequirement(key, frozenset([self._value()]))
        if self._took("!="):
            return LabelRequirement(key, frozenset([self._value()]), negated=True)
        for word, negated in (("in", False), ("notin", True)):
            if self._took(word):
                return LabelRequirement(key, self._set(), negated=negated)
        return LabelRequirement(key)

    def _set(self) -> frozenset[str]:
        if not self._took("("):
            self._fail("(")
        values = [self._value()]
        while self._took(","):
            values.append(self._value())
        if not self._took(")"):
            self._fail(")")
        return frozenset(values)

    def _value(self) -> str:
        """A value, which may be empty."""
        return "" if self._next() in ("", ",", ")") else self._word("a value")

    def _word(self, what: str) -> str:
        if not self._next()[:1].isalnum():
            self._fail(what)
        self._at += 1
        return self._tokens[self._at - 1]

    def _took(self, *expected: str) -> bool:
        taken = self._next() in expected
        self._at += taken
        return taken

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _fail(self, expected: str) -> NoReturn:
        instead = f"before {self._next()!r}" if self._next() else "at its end"
        raise ValueError(f"The label selector lacks {expected} {instead}.")
