"""`./carrel` in a checkout where nothing is set up: what it refuses, and what it accepts from an index."""

import hashlib
import http.server
import io
import os
import select
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNPACK = """
import sys; sys.path.insert(0, {tools!r})
from pathlib import Path
from pins import Wheel; from download import unpack; from screen import SetupError
try:
    print(unpack(Wheel("thing", "1", "thing-1-py3-none-any.whl", {sha256!r}), Path({target!r})))
except SetupError as error:
    print("refused:", error)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The first command and what it reads, with nothing set up."""
    folder = tmp_path / "checkout"
    (folder / "web").mkdir(parents=True)
    for name in ("carrel", "uv.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    leave_out = shutil.ignore_patterns("__pycache__")
    for name in ("tools/bootstrap", "clients/python/src", "tests/unit"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave_out)
    for name in ("tools/checks/options.py", "bench/options.py", "src/carrel/server/grammar.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def _files(checkout: Path) -> set[Path]:
    return {path for path in checkout.rglob("*") if path.name != "__pycache__" and path.suffix != ".pyc"}


def _run(checkout: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [checkout / "carrel", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["up", "--port", "9000"], "./carrel up --port 9000 --yes"),
        (["session", "ls"], "./carrel up --yes"),
        (["test"], "./carrel test --yes"),
    ],
)
def test_without_a_terminal_nothing_is_installed_and_the_command_is_told(
    checkout: Path, arguments: list[str], advice: str
) -> None:
    answer = _run(checkout, *arguments)
    assert answer.returncode == 2
    assert "Python packages" in answer.stderr
    assert f"Run: {advice}\n" in answer.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "./carrel up"),
        (["--help"], "./carrel test"),
        (["up", "--help"], "--admin-email"),
        (["serve", "--help"], "--roles"),
        (["test", "--help"], "--only"),
        (["bench", "--help"], "session_start"),
        (["session", "--help"], "session create"),
        (["session", "create", "--help"], "--image"),
    ],
)
def test_help_answers_and_installs_nothing(checkout: Path, arguments: list[str], says: str) -> None:
    before = _files(checkout)
    answer = _run(checkout, *arguments)
    assert answer.returncode == 0, answer.stderr
    assert says in answer.stdout
    assert _files(checkout) == before


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (["upp"], "there is no command 'upp'", "did you mean: carrel up"),
        (["sesion", "ls"], "there is no command 'sesion'", "did you mean: carrel session"),
        (["up", "--port", "99999"], "--port: '99999' is not a port", "carrel up --help"),
        (["up", "--port", "0"], "--port: '0' is not a port", "carrel up --help"),
        (["up", "--port", "http"], "--port: 'http' is not a port", "carrel up --help"),
        (["up", "--host", "256.1.1.1"], "--host: '256.1.1.1' is not an address", "carrel up --help"),
        (["up", "--data-dir", "FILE"], "is not a directory", "carrel up --help"),
        (["up", "--data-dir", "FILE/below"], "is not a directory", "carrel up --help"),
        (["up", "--admin-email", "bad"], "'bad' is not an e-mail address", "carrel up --help"),
        (["up", "--apps-domain", "a b"], "'a b' is not a domain name", "carrel up --help"),
        (["up", "--app-ports", "9-8"], "'9-8' is not a range of ports", "carrel up --help"),
        (["up", "--prot", "80"], "unrecognized arguments: --prot 80", "did you mean --port?"),
        (["down", "now"], "unrecognized arguments: now", "carrel down --help"),
        (["status", "-o", "xml"], "invalid choice: 'xml'", "carrel status --help"),
        (["serve", "--roles", "apy"], "'apy' is not a role", "carrel serve --help"),
        (["test", "--only", "unti"], "there is no part 'unti'; did you mean unit?", "./carrel test --help"),
        (
            ["bench", "gatway"],
            "there is no benchmark 'gatway'; did you mean gateway?",
            "./carrel bench --help",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_before_anything_is_installed(
    checkout: Path, arguments: list[str], says: str, hint: str
) -> None:
    file = checkout / "file"
    file.touch()
    before = _files(checkout)
    answer = _run(checkout, *(word.replace("FILE", str(file)) for word in arguments))
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert says in answer.stderr
    assert f"hint: {hint}\n" in answer.stderr
    assert len(answer.stderr.splitlines()) == 2
    assert answer.stdout == ""
    assert _files(checkout) == before


def test_another_first_command_is_waited_for(checkout: Path) -> None:
    (checkout / ".tools").mkdir()
    lock = checkout / ".tools" / "lock"
    holder = subprocess.Popen(
        ["flock", lock, "sh", "-c", "echo held; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    waiting = subprocess.Popen(
        [checkout / "carrel", "session", "ls"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stderr is not None
    readable, _, _ = select.select([waiting.stderr], [], [], 10)
    was_waiting = waiting.poll() is None
    holder.communicate("go\n")
    _, complaints = waiting.communicate(timeout=20)
    assert readable
    assert was_waiting
    assert "another ./carrel" in complaints.splitlines()[0]
    assert waiting.returncode == 2


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[str, bytes]]:
    """A package index with one wheel behind a relative link, and the wheel's content."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("thing/bin/thing", "#!/bin/sh\n")
    folder = tmp_path / "index"
    (folder / "thing").mkdir(parents=True)
    (folder / "files").mkdir()
    (folder / "files" / "thing-1-py3-none-any.whl").write_bytes(content.getvalue())
    (folder / "thing" / "index.html").write_text(
        '<a href="../files/thing-1-py3-none-any.whl#sha256=00">thing</a>'
    )

    class Silent(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", content.getvalue()
        server.shutdown()
        thread.join()


def _unpack(url: str, sha256: str, target: Path) -> str:
    script = UNPACK.format(tools=str(ROOT / "tools" / "bootstrap"), sha256=sha256, target=str(target))
    variables = {**os.environ, "PIP_INDEX_URL": url}
    variables.pop("UV_DEFAULT_INDEX", None)
    answer = subprocess.run(
        [sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()


def test_a_pinned_file_is_unpacked_with_programs_that_run(index: tuple[str, bytes], tmp_path: Path) -> None:
    url, content = index
    target = tmp_path / "tools" / "thing"
    assert _unpack(url, hashlib.sha256(content).hexdigest(), target) == str(target)
    assert os.access(target / "thing" / "bin" / "thing", os.X_OK)


def test_a_file_that_is_not_the_pinned_one_is_refused_and_leaves_nothing(
    index: tuple[str, bytes], tmp_path: Path
) -> None:
    answer = _unpack(index[0], "0" * 64, tmp_path / "tools" / "thing")
    assert answer.startswith("refused: thing-1-py3-none-any.whl is not the pinned file")
    assert list((tmp_path / "tools").iterdir()) == []


def test_an_index_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    answer = _unpack("http://user:secret@127.0.0.1:1/simple", "0" * 64, tmp_path / "thing")
    assert "http://127.0.0.1:1/simple" in answer
    assert "secret" not in answer


STAMPED = """
import sys; sys.path.insert(0, {tools!r})
from pathlib import Path
from page import Page
root = Path({root!r})
page = Page(root)
page._stamp.parent.mkdir(); page._stamp.write_text(page._sources())
page._built.mkdir(parents=True); (page._built / "index.html").touch()
print(page.is_current())
(root / {changed!r}).write_text("changed")
print(page.is_current())
"""


@pytest.mark.parametrize("changed", ["web/index.html", "docs/howto/limits.md", "CHANGELOG.md"])
def test_the_page_is_built_again_when_what_it_shows_has_changed(tmp_path: Path, changed: str):
    for name in ("web/index.html", "docs/howto/limits.md", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    script = STAMPED.format(tools=str(ROOT / "tools/bootstrap"), root=str(tmp_path), changed=changed)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr
