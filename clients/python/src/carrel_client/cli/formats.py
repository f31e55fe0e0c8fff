"""Structured output: JSON, YAML, or a JSONPath template."""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

JSONPATH = "jsonpath="
OUTPUTS = ("table", "json", "yaml", JSONPATH)


def output_format(text: str) -> str:
    """The value of -o. Raises: ValueError."""
    if text.startswith(JSONPATH):
        from carrel_client.cli.jsonpath import PathTemplate

        PathTemplate(text.removeprefix(JSONPATH))
    elif text not in OUTPUTS:
        raise ValueError(f"{text!r} is not one of table, json, yaml and jsonpath=TEMPLATE")
    return text


class Writer:
    """Writes the responses of one command to standard output, in the format of -o."""

    def __init__(self, output: str) -> None:
        self._write: Callable[[object], str] = _indented
        self._write_line: Callable[[object], str] = _compact
        self._between = ""
        self._written = 0
        if output == "yaml":
            self._write = self._write_line = _yaml
            self._between = "---\n"
        elif output.startswith(JSONPATH):
            from carrel_client.cli.jsonpath import PathTemplate

            template = PathTemplate(output.removeprefix(JSONPATH))
            self._write = self._write_line = lambda answer: _ended(template.render(answer))

    def write(self, answer: object) -> None:
        """Write one response of one or more."""
        self._put(self._write(answer))

    def write_line(self, answer: object) -> None:
        """Write one response of a stream immediately: JSON on one line."""
        self._put(self._write_line(answer))
        sys.stdout.flush()

    def _put(self, text: str) -> None:
        sys.stdout.write(self._between + text if self._written else text)
        self._written += 1


def _indented(answer: object) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False) + "\n"


def _compact(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=False) + "\n"


def _yaml(answer: object) -> str:
    import yaml  # importing it takes twenty milliseconds

    text: str = yaml.safe_dump(answer, allow_unicode=True, sort_keys=False, width=sys.maxsize)
    return text.removesuffix("...\n")


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
