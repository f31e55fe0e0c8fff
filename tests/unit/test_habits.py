"""Habits that a machine can look after: names of modules, who catches everything, who may branch on an engine."""

import ast
import re
from collections.abc import Iterable
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "carrel"
FILES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN_NAMES = {"utils", "helpers", "common", "types", "manager", "base", "misc"}
# Private metaphors, for which docs/glossary.md has the field's term.
PRIVATE_WORDS = set(
    "door reach heirs told people survivors shelves stock chances ahead outlook vacate plane".split()
)
PRIVATE_WORDS |= set(
    "post ring whole quick happening ground means surroundings leaving wanted found said".split()
)
# Loops, process mains, and what stands between every request and its answer.
CATCH_ALL = {
    "apps/network_checks/program.py",
    "controllers/environment_pushes.py",
    "controllers/registry_scans.py",
    "controllers/each_engine.py",
    "controllers/loop.py",
    "controllers/launch.py",
    "controllers/reap.py",
    "gateway/authorization.py",
    "gateway/ssh_access.py",
    "http/shell.py",
}


def relative(file: Path) -> str:
    return str(file.relative_to(SOURCE))


def test_directories_of_tests_mirror_the_packages():
    """What is about the whole tree lies beside them."""
    packages = {relative(file.parent) for file in FILES if file.name == "__init__.py"} | {"carrel_client"}
    tests = SOURCE.parents[1] / "tests"
    for kind in ("unit", "store", "http"):
        rooms = {str(test.parent.relative_to(tests / kind)) for test in (tests / kind).rglob("test_*.py")}
        assert len(rooms) > 5
        assert rooms <= packages, kind


# Who may let time pass in a test, and why. All others wait for what they wait for: `eventually`, `wait_until`.
SLEEPING = {
    "people.py": "looks again, in the helpers that wait",
    "slow_background.py": "slowness itself",
    "simulation/": "virtual time",
    "unit/controllers/test_loop.py": "virtual time",
    "unit/scanners/test_scanner.py": "looks for processes that end, and a program that does not",
    "fake_scanner.py": "a program that waits for its test",
    "conformance/test_docker.py": "time of a real engine, for the suite that engines share",
    "conformance/test_docker_restart.py": "time of a real engine, for the suite that engines share",
    "conformance/test_isolation.py": "the window of a measurement",
    "conformance/test_neighbours.py": "programs inside of containers",
    "cluster/test_kubernetes.py": "time of a real engine, for the suite that engines share",
    "e2e/test_screens.py": "looks again, as it compares pictures",
    "crash/control_plane.py": "the pace of a reader who never stops",
    "crash/place.py": "the moment of a kill",
    "crash/test_kill_minus_nine.py": "the moment of a kill",
    "crash/test_batch_killed.py": "the moment of a kill",
    "crash/test_leader_changes.py": "the moment of a kill",
    "crash/test_logs.py": "the moment of a kill",
    "crash/test_disk_full.py": "attempts of a supervisor that has no room to write them down",
    "e2e/test_data.py": "looks again, while the browser goes on",
    "http/apps/test_apps.py": "an app that is slow to start",
    "unit/storage/test_storage_threads.py": "work that is slow",
}


def test_nothing_waits_for_time_to_pass():
    tests = SOURCE.parents[1] / "tests"
    sleeping = {
        str(file.relative_to(tests))
        for file in tests.rglob("*.py")
        if re.search(r"(?<!def )\b(sleep|wait_for_timeout)\((?!0\))", file.read_text())
    }
    assert {one for one in sleeping if not one.startswith(tuple(SLEEPING))} == set()
    assert {one for one in SLEEPING if not any(file.startswith(one) for file in sleeping)} == set()


CLIENT = SOURCE.parents[1] / "clients" / "python" / "src" / "carrel_client"


@pytest.mark.parametrize("package", [SOURCE, CLIENT], ids=lambda package: package.name)
def test_no_modules_import_each_other_in_a_circle(package: Path):
    """Imports inside of functions and for types count too."""
    TopologicalSorter(_imports(package)).prepare()


@pytest.mark.parametrize("package", [SOURCE, CLIENT], ids=lambda package: package.name)
def test_no_modules_and_packages_of_one_package_import_each_other_in_a_circle(package: Path):
    """An import of a module counts for each package that it is in."""
    siblings: dict[str, set[str]] = {}
    for importer, imported in _imports(package).items():
        for module in imported:
            left, right = _siblings(importer, module)
            siblings.setdefault(left, set()).add(right)
    TopologicalSorter(siblings).prepare()


def _siblings(left: str, right: str) -> tuple[str, str]:
    """What the two modules are in, or are, in the smallest package that has both."""
    one, other = left.split("."), right.split(".")
    depth = 1 + sum(1 for _ in takewhile(lambda names: names[0] == names[1], zip(one, other, strict=False)))
    return ".".join(one[:depth]), ".".join(other[:depth])


def _imports(package: Path) -> dict[str, set[str]]:
    modules = {_module(package, file): file for file in package.rglob("*.py")}
    imports = {name: set(_imported(file, modules.keys())) for name, file in modules.items()}
    # It gives the names of the SDK to programs, when they ask for them.
    imports["carrel_client"] = set()
    return imports


def _module(package: Path, file: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path, modules: Iterable[str]) -> Iterable[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name in modules)
            case ast.ImportFrom(module=str(module), names=names):
                of_package = {name for one in names if (name := f"{module}.{one.name}") in modules}
                yield from of_package
                if module in modules and len(of_package) < len(names):
                    yield module


def test_no_module_has_a_name_that_says_nothing():
    assert [relative(file) for file in FILES if file.stem in FORBIDDEN_NAMES] == []


# The same part of several nouns.
ROLES = set("administration conformance conformance_kit engine fake make metrics port".split())
ROLES |= set("queries routes schemas service services settings".split())
# One noun in several layers, with every place of it.
SAME_NOUN = {
    "authorization": {"folders/files/authorization.py", "gateway/authorization.py"},
    "dependencies": {"controllers/dependencies.py", "sessions/dependencies.py", "tables/dependencies.py"},
    "engines": {"engines", "nodes/engines", "server/engines.py"},
    "idle": {"controllers/idle.py", "usage/idle"},
    "interrupted": {"folders/files/interrupted.py", "storage/interrupted.py"},
    "logs": {"apps/logs.py", "engines/docker/logs.py", "sessions/logs"},
    "packs": {"folders/files/packs.py", "storage/packs.py"},
    "passwords": {"identity/passwords.py", "signin/logins/passwords.py"},
    "queue": {"queue", "queue/queue.py"},
    "tables": {"db/tables.py", "tables"},
    "uploads": {"folders/files/uploads.py", "tables/uploads.py"},
}


def test_no_module_name_has_two_meanings():
    """Tables have the name of the package whose rows they are."""
    packages = {file.parent for file in FILES if file.name == "__init__.py" and file.parent != SOURCE}
    modules = {file for file in FILES if file.name != "__init__.py" and "versions" not in file.parts}
    tables = {SOURCE / "tables" / f"{package.name}.py" for package in packages}
    places: dict[str, set[str]] = {}
    for module in packages | modules - tables:
        places.setdefault(module.stem, set()).add(relative(module))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in ROLES} == SAME_NOUN
    assert shared.keys() >= ROLES


def test_no_module_or_class_has_a_private_name():
    modules = {relative(file) for file in FILES if file.stem in PRIVATE_WORDS}
    assert (
        modules | {name for name in _classes() if name.strip("_").lower().rstrip("s") in PRIVATE_WORDS}
        == set()
    )


def _identifiers(tree: ast.Module) -> Iterable[str]:
    """Names that a module gives to functions, parameters, variables and attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


# Fields of the API and parameters of the SDK, an HTTP method, whole devices beside shares, averages.
_EXEMPT = {"means", "people", "post", "told", "whole"}


def test_no_name_in_the_code_is_a_private_word():
    client = SOURCE.parents[1] / "clients" / "python" / "src"
    private = (PRIVATE_WORDS | {"happenings", "heir", "sought"}) - _EXEMPT
    assert {
        f"{file.relative_to(SOURCE.parents[1])}: {name}"
        for file in [*FILES, *client.rglob("*.py")]
        for name in _identifiers(ast.parse(file.read_text()))
        if name.strip("_").lower() in private
    } == set()


def test_no_name_in_the_tests_hides_what_the_value_is():
    tests = SOURCE.parents[1] / "tests"
    vague = {"asked", "found", "heard", "said", "told", "wanted", "whole"}
    assert {
        f"{file.relative_to(tests)}: {name}"
        for file in tests.rglob("*.py")
        if not file.is_relative_to(tests / "e2e")
        for name in _identifiers(ast.parse(file.read_text()))
        if name.strip("_").lower() in vague
    } == set()


# Phrases that are not plain English, in docstrings, comments, messages or documents.
BANNED_PHRASES = (
    "again for another",
    "as usual again",
    "decision whether the actor may",
    "in hand",
    "locked for nobody",
    "not so once is not so later",
    "nothing runs beside",
    "such a one",
    "tell pages",
    "what is left out stays",
    "what routes of",
    "whatever the case of",
    "who has had how much",
    "wire types",
    "write it down",
)


@pytest.mark.parametrize("phrase", BANNED_PHRASES)
def test_no_text_has_a_banned_phrase(phrase: str):
    root = SOURCE.parents[1]
    texts = [
        *(file for file in FILES if "versions" not in file.parts),
        *(root / "clients" / "python" / "src").rglob("*.py"),
        *(root / "docs" / "howto").glob("*.md"),
        *(root / "docs" / "explanation").glob("*.md"),
    ]
    # The page translates the sentences of actions, so both change together.
    texts.remove(SOURCE / "permissions" / "actions.py")
    pattern = re.compile(r"\b" + re.escape(phrase).replace(r"\ ", r"\s+"), re.IGNORECASE)
    assert [str(file.relative_to(root)) for file in texts if pattern.search(file.read_text())] == []


# What the SDK calls as its users do: the objects of the server, and the groups of operations that are generated.
_OF_THE_SDK = {"CarrelError", "Folder", "Session", "Sessions"}
_GENERATED = {"models.py", "operations.py"}


def test_no_class_name_has_two_meanings():
    shared = {name: modules for name, modules in _classes().items() if len(modules) > 1}
    assert {name: modules for name, modules in shared.items() if name not in _OF_THE_SDK} == {}


def _classes() -> dict[str, list[str]]:
    """Classes of the server and the client, and their modules; migrations stay as they were written."""
    classes: dict[str, list[str]] = {}
    written = [file for file in CLIENT.rglob("*.py") if file.name not in _GENERATED]
    for file in (file for file in [*FILES, *written] if "versions" not in file.parts):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(str(file.relative_to(SOURCE.parents[1])))
    return classes


# The error that the page throws for what the API answers as such.
_OF_THE_API = {"Problem"}


def test_no_export_of_the_page_has_two_meanings():
    """Neither within the page nor with what is generated from the API."""
    page = SOURCE.parents[1] / "web" / "src"
    exports: dict[str, set[str]] = {}
    for file in page.rglob("*.ts*"):
        text = file.read_text()
        names = _EXPORT.findall(text)
        if file == page / "api" / "types.ts":
            names += _ALIAS.findall(text)
        place = "generated" if "generated" in file.parts else str(file.relative_to(page))
        for name in names:
            exports.setdefault(name, set()).add(place)
    assert len(exports) > 2000
    shared = {name: where for name, where in exports.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in _OF_THE_API} == {}


_EXPORT = re.compile(
    r"^export (?:async )?(?:function\*?|const|let|class|type|interface|enum) (\w+)", re.MULTILINE
)
_ALIAS = re.compile(r"^  \w+ as (\w+),$", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=relative)
def test_every_module_with_code_says_what_it_is_for(file: Path):
    tree = ast.parse(file.read_text())
    if tree.body and "versions" not in file.parts:
        assert ast.get_docstring(tree), relative(file)


def test_only_loops_and_mains_catch_everything():
    caught = set()
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ExceptHandler) and (
                node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception")
            ):
                caught.add(relative(file))
    assert caught <= CATCH_ALL


def test_nothing_is_left_to_be_done_later():
    for file in FILES:
        assert not re.search(r"\b(TODO|FIXME|XXX|NotImplementedError)\b", file.read_text()), relative(file)


# A registry and its media types, which each engine has.
_REGISTRY = re.compile(
    r"docker[ _]?hub|docker\.(?:io|com)\b|vnd\.docker|docker_(?:list|manifest)|docker-content-digest"
    # A file format, and conventions of repositories.
    r"|dockerfile|dockerignore|dockercomposefile|repo2docker"
    # Variables that NVIDIA's runtime reads.
    r"|docker_resource"
)


def test_above_the_engines_nobody_knows_which_engine_it_is():
    above = [
        file
        for file in FILES
        # What a migration writes is data: the kind of the engine that there was.
        if file.parts[len(SOURCE.parts)] not in ("engines", "server")
        and "versions" not in file.parts
        and "docker" in _REGISTRY.sub("", file.read_text().lower())
    ]
    assert [relative(file) for file in above] == []


def test_the_applications_state_is_touched_in_one_place():
    touching = [relative(file) for file in FILES if re.search(r"\bapp\.state\b", file.read_text())]
    assert touching == ["http/services.py"]


def test_no_parameter_is_a_bag_of_anything():
    for file in FILES:
        assert not re.search(r"\b(state|services): Any\b", file.read_text()), relative(file)


# What speaks HTTP or WebSocket itself, beside the routes: ASGI applications, middleware, messages of a socket.
SPEAKS_HTTP = {
    "apps/sockets.py",
    "apps/terminal_relay.py",
    "apps/streams.py",
    "audit/middleware.py",
    "folders/webdav/app.py",
    "folders/webdav/mount.py",
}


def test_use_cases_know_no_web_framework():
    importing = {
        relative(file)
        for file in FILES
        if re.search(r"^\s*(from|import) (fastapi|starlette)\b", file.read_text(), re.MULTILINE)
        and relative(file).split("/")[0] not in ("http", "server")
        and not file.stem.endswith("routes")
    }
    assert importing == SPEAKS_HTTP


def test_statuses_stand_in_the_error_tree_and_where_http_is_spoken():
    saying = {
        relative(file) for file in FILES if re.search(r"^    status = \d", file.read_text(), re.MULTILINE)
    }
    assert {one for one in saying if not one.startswith("http/")} == {
        "core/errors.py",
        "folders/files/tus.py",
    }


def test_limits_of_policies_are_read_by_name_where_they_are_kept():
    """Elsewhere they are fields of `tables.policies`."""
    for file in FILES:
        if relative(file).split("/")[0] not in ("limits", "tables") and "versions" not in file.parts:
            assert not re.search(r"\blimits(\[[\"']|\.get\(| -> ')", file.read_text()), relative(file)


# Rules about who may what, each with the one place that writes it down, in Python or in SQL.
RULES = {
    # what a role is worth
    r"(==|!=|\bis|\bis not|\bin) \(?Role\.[A-Z]|\brole (==|!=|is) [\"']\w*(user|admin)\b|RANKS\.index": {
        "permissions/roles.py",
        "tables/tenancy.py",
    },
    # who may use a resource group
    r"\bGroupAccess\.kind|FROM resource_group_access|JOIN resource_group_access|resource_groups\.is_\(": {
        "nodes/groups/service.py"
    },
    # whom a share gives a folder
    r"FolderShare\.state == ShareState\.ACCEPTED|\bshare\.state == ShareState\.ACCEPTED|FROM vfolder_shares": {
        "folders/access.py"
    },
    # who may keep folders on a storage host
    r"\bStorageHostAccess\.kind|\bDomain\.storage_hosts\.is_": {"folders/hosts/queries.py"},
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_about_people_is_written_once(rule: str):
    writing = {
        relative(file) for file in FILES if "versions" not in file.parts and re.search(rule, file.read_text())
    }
    assert writing <= RULES[rule]
    assert writing, "nothing is looked for any more"
