"""docs/path.md names only what is there."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs" / "path.md"
NAMES = re.findall(r"`(carrel[\w.]*):([\w.]+)`", PATH.read_text())


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[":".join(name) for name in NAMES])
def test_what_the_path_names_can_be_imported(module, name):
    imported = reduce(getattr, name.split("."), importlib.import_module(module))
    assert imported is not None


def test_every_stop_of_the_path_names_something():
    stops = re.findall(r"^\| (\d+) \|.*$", PATH.read_text(), re.MULTILINE)
    assert stops == [str(number) for number in range(1, len(stops) + 1)]
    assert len(stops) >= 8
    for line in PATH.read_text().splitlines():
        if re.match(r"\| \d+ \|", line):
            assert re.search(r"`carrel[\w.]*:[\w.]+`", line), line


def test_every_carrel_name_on_the_page_is_of_the_tested_form():
    assert len(re.findall(r"`carrel[^`]*`", PATH.read_text())) == len(NAMES)
