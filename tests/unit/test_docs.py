"""The reference says what the code does: every error code, setting, operation and event, and nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel.server.compose  # noqa: F401 - with it every class of errors is there
from carrel.core import errors
from carrel.engines import port
from carrel.http.problems import _TITLES
from carrel.server.settings import Settings
from carrel.storage.port import StorageError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = re.compile(r"^\| `([a-z_.]+)` \|", re.MULTILINE)
CONSTANTS = {"NEEDS_CONSENT": "setup.needs_consent"}


def reference(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text()


def error_classes() -> set[str]:
    """Those whose first argument is the code."""
    base = errors.CarrelError
    return {kind.__name__ for kind in with_all_below(base) if kind.__init__ is base.__init__}


def with_all_below(kind: type) -> Iterator[type]:
    yield kind
    for below in kind.__subclasses__():
        yield from with_all_below(below)


def codes_in_source() -> Iterator[str]:
    """First arguments of our errors, `code=` of the engine's and of problems, and what operators' mains print."""
    for file in (ROOT / "src" / "carrel").rglob("*.py"):
        text = file.read_text()
        yield from re.findall(r"error: .*\(([a-z]+\.[a-z_]+)\)", text)
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            first_is_code = ("OutageCause", "NoRequest", "BrokenRule", "PushFailure")
            if (name in error_classes() or name in first_is_code) and node.args:
                yield from _constant(node.args[0])
            if name == "_later":
                yield from _constant(node.args[1])
            if (
                name in ("Problem", "EngineError", "Trouble", "keep_or_end")
                or name in vars(port)
                or name == "__init__"
            ):
                for keyword in node.keywords:
                    if keyword.arg == "code":
                        yield from _constant(keyword.value)
    for kind in with_all_below(StorageError):
        yield f"storage.{vars(kind)['code'].removeprefix('storage_')}"
    yield from (
        "http." + title.lower().replace(" ", "_") for status, title in _TITLES.items() if status in MADE
    )


# Statuses that the framework raises by itself.
MADE = (400, 404, 405, 413, 415)


def _constant(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.Name) and node.id in CONSTANTS:
        yield CONSTANTS[node.id]


def test_every_error_code_is_documented_and_every_documented_one_exists():
    documented = CODE.findall(reference("errors"))
    assert len(documented) == len(set(documented))
    codes = set(codes_in_source())
    assert {"session.not_found", "auth.locked", "setup.no_database", "internal"} <= codes
    # The engine's base class has its code as a default.
    assert codes | {"engine_error"} == set(documented)


def test_every_setting_is_documented():
    documented = re.findall(r"^\| `CARREL_([A-Z_]+)` \|", reference("settings"), re.MULTILINE)
    assert [name.lower() for name in documented] == list(Settings.model_fields)
    for name, field in Settings.model_fields.items():
        row = next(line for line in reference("settings").splitlines() if f"`CARREL_{name.upper()}`" in line)
        assert field.description, name
        if isinstance(field.default, str | int) and field.default and name != "engine_url":
            assert f"`{field.default}`" in row, row


def test_every_kind_of_event_is_documented():
    source = "".join(file.read_text() for file in (ROOT / "src" / "carrel").rglob("*.py"))
    kinds = set(re.findall(r'"event": "([a-z.]+)"', source)) | {"hello", "usage"}
    things = "user|project|domain|policy|group|node|engine|preset|schedule|template|storage_host|vfolder|vfolder_task"
    things += (
        "|invitation|quota|node_image|image_pull|accelerator_check|image|image_scan|registry|registry_scan"
    )
    things += "|rescan|environment"
    kinds |= set(re.findall(rf'"((?:{things})\.(?:created|updated|removed)|files\.changed)"', source))
    kinds |= set(re.findall(r'"(session\.(?:shared|unshared|apps))"', source))
    kinds |= set(re.findall(r'"(node\.device_(?:un)?healthy)"', source))
    assert kinds == set(CODE.findall(reference("events")))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


def texts_that_name_files() -> Iterator[tuple[Path, str]]:
    """What comments, docstrings and the reference name: `gateway/relay.py`, and the modules that a package lists."""
    for folder in ("src", "tests", "tools", "bench"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text()
            prose = "\n".join(re.findall(r'"""(?:.|\n)*?"""|#.*', text))
            for name in re.findall(r"(?<![\w./<{])(?:[\w-]+/)+[\w-]+\.py\b", prose):
                yield file, name
            if file.name == "__init__.py":
                for name in re.findall(r"^    (\w+\.py) ", text, re.MULTILINE):
                    yield file, f"{file.parent.name}/{name}"
    for folder in ("reference", "decisions"):
        for file in (DOCS / folder).glob("*.md"):
            for name in re.findall(r"`((?:src|tests|tools|bench)/[\w/-]+\.py)`", file.read_text()):
                yield file, name


def test_every_module_that_a_text_names_is_there():
    named = list(texts_that_name_files())
    assert len(named) > 40
    there = {f"/{file.relative_to(ROOT)}" for file in ROOT.rglob("*.py") if ".venv" not in file.parts}
    gone = [
        (str(file.relative_to(ROOT)), name)
        for file, name in named
        if not any(path.endswith(f"/{name}") for path in there)
    ]
    assert gone == []
