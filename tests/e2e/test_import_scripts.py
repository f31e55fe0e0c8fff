"""Import scripts in a session, from a server of sources in the same session; hostile names are only names."""

import base64
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from carrel.imports.fetching import Steps, script
from carrel.imports.sources import SourceKind, read
from e2e.conftest import SMALL
from e2e.running import Running

SERVER = Path(__file__).with_name("source_server.py")
TOKEN, PORT = "s3cret", 8123
HOSTILE = "a'b$(touch${IFS}pwned)`touch${IFS}pwned`;touch pwned"
BRANCH = "x'$(touch${IFS}pwned)`id`;"
SOURCES = f"""
set -eu
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.org
cd /home/work/sources; mkdir -p git files hub/datasets/acme/data/b hub/models/private/m made && cd made
git init -q -b main .; mkdir -p sub {shlex.quote(HOSTILE)}
echo '{{"cells": []}}' > {shlex.quote(HOSTILE)}/n.ipynb
echo one > sub/file; git add .; git commit -q -m one; git tag v1; git rev-parse HEAD > ../first
git branch {shlex.quote(BRANCH)}; echo two > sub/file; echo ./demo-1.0-py3-none-any.whl > requirements.txt
python3 - <<'END'
import zipfile
with zipfile.ZipFile("demo-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("import_demo.py", "")
    wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n")
    wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("demo-1.0.dist-info/RECORD", "")
END
echo '{{"cells": []}}' > only.ipynb; git add .; git commit -q -m two
cd ..; git clone -q --bare made git/work.git; cp -r git/work.git git/private.git
cp -r git/work.git {shlex.quote(f"git/{HOSTILE.replace(' ', '')}.git")}
tar -C made -czf files/one.tar.gz --transform s,^,top/, sub
(cd made && python3 -m zipfile -c ../files/many.zip sub requirements.txt)
tar -P -C made -czf files/outside.tar.gz --transform s,^sub/file,../../outside, sub/file
echo '{{"cells": []}}' > 'files/My Notes.ipynb'; echo '<html>' > files/page.ipynb
for file in 1 2 b/3; do echo $file > hub/datasets/acme/data/$file; done
mkdir -p hub/datasets/acme/hostile; echo weights > hub/models/private/m/weights
cd /home/work/sources; exec python3 server.py $(hostname -i) >/dev/null 2>&1 &
for _ in $(seq 100); do
    if curl -fs -o /dev/null http://$(hostname -i):{PORT}/files/page.ipynb; then hostname -i; exit; fi
    sleep 0.1
done
exit 1
"""


@dataclass(frozen=True)
class Desk:
    """A session with a server of sources at `url`."""

    carrel: Running
    session: str
    url: str

    def shell(self, script: str) -> str:
        return self.carrel.shell(self.session, script)

    def run(
        self,
        url: str,
        *,
        kind: SourceKind | None = None,
        ref: str = "",
        path: str = "",
        root: str = "",
        install: bool = False,
        environment: str = "",
    ) -> tuple[int, str]:
        """The exit code and output of a script, in a new directory of its own as home. root: below it."""
        steps = Steps(root=f"/home/work/run{root}", install=install)
        text = script(read(url, kind=kind, ref=ref, path=path), steps)
        where = shlex.quote(steps.root)
        words = f"""
            rm -rf /home/work/run /home/work/pwned; mkdir -p {where}; cd /home/work/run; ls -A /tmp > ../before
            HOME=/home/work/run {environment} sh -c {shlex.quote(text)} 2>&1; code=$?
            ls -A /tmp | diff - ../before; ls -d {where}/.import-* 2>/dev/null; find /home/work/run -name pwned
            echo "exit $code"
        """
        output, _, code = self.shell(words).rpartition("exit ")
        assert ".import-" not in output
        assert "/pwned" not in output
        assert not re.search("^< ", output, re.MULTILINE), "files are left in /tmp"
        return int(code), output


@pytest.fixture(scope="module")
def desk(carrel: Running) -> Iterator[Desk]:
    session = "import_scripts"
    done = carrel.carrel("session", "create", *SMALL, "--name", session, "--wait")
    assert done.returncode == 0, done.stderr
    server = base64.b64encode(SERVER.read_bytes()).decode()
    carrel.shell(
        session, f"mkdir /home/work/sources; echo {server} | base64 -d > /home/work/sources/server.py"
    )
    address = carrel.shell(session, SOURCES).strip()
    yield Desk(carrel, session, f"http://{address}:{PORT}")
    carrel.carrel("session", "rm", "--yes", session, "--force")


def test_git_gives_the_branch_tag_or_commit_and_says_what_is_missing(desk: Desk) -> None:
    url = f"{desk.url}/git/work.git"
    code, output = desk.run(url, install=True)
    assert (code, desk.shell("cat run/work/sub/file")) == (0, "two\n"), output
    config = desk.shell(
        "cat run/.jupyter/jupyter_server_config.json; python3 -c 'import import_demo' && echo installed"
    )
    assert config == '{"LabApp": {"default_url": "/lab/tree/work/only.ipynb"}}\ninstalled\n'
    for ref in ("v1", desk.shell("cat sources/first").strip()):
        code, output = desk.run(url, ref=ref, path="sub/file")
        assert (code, desk.shell("cat run/work/sub/file")) == (0, "one\n"), output
    assert desk.shell("grep -o lab/tree.*file run/.jupyter/*.json") == "lab/tree/work/sub/file\n"
    for ref in ("missing", "0123456789012345678901234567890123456789"):
        code, output = desk.run(url, ref=ref)
        assert (code, desk.shell("ls run")) == (1, "")
        assert "cannot be cloned" in output
    code, output = desk.run(f"{desk.url}/git/other.git")
    assert (code, "cannot be cloned" in output) == (1, True)


def test_names_that_a_shell_could_run_are_only_names(desk: Desk) -> None:
    url = f"{desk.url}/git/{HOSTILE.replace(' ', '')}.git"
    root = f"/{HOSTILE}"
    code, output = desk.run(url, ref=BRANCH, path=f"{HOSTILE}/n.ipynb", root=root)
    assert code == 0, output
    assert "Fetched to" in output
    assert (
        desk.shell(f"cat {shlex.quote(f'run{root}')}/*/{shlex.quote(HOSTILE)}/n.ipynb") == '{"cells": []}\n'
    )


def test_a_token_opens_a_private_repository_and_stays_nowhere(desk: Desk) -> None:
    url = f"{desk.url}/git/private.git"
    for wrong in ("", "CARREL_IMPORT_TOKEN=wrong"):
        code, output = desk.run(url, environment=wrong)
        assert (code, "wrong" in output) == (1, False), output
    code, output = desk.run(url, environment=f"CARREL_IMPORT_TOKEN={TOKEN}")
    assert (code, desk.shell("cat run/private/sub/file")) == (0, "two\n"), output
    assert TOKEN not in output
    assert desk.shell(f"grep -rl {TOKEN} run || true") == ""


def test_archives_and_notebooks_are_unpacked_and_checked(desk: Desk) -> None:
    for name, shown in (("one.tar.gz", "sub"), ("many.zip", "requirements.txt\nsub")):
        code, output = desk.run(f"{desk.url}/files/{name}")
        assert (code, desk.shell(f"ls run/{name.partition('.')[0]}").strip()) == (0, shown), output
    desk.run(f"{desk.url}/files/outside.tar.gz")
    assert desk.shell("find run -name 'outside*' -type f") == ""
    code, output = desk.run(f"{desk.url}/files/My%20Notes.ipynb")
    assert (code, desk.shell("ls run")) == (0, "My-Notes.ipynb\n"), output
    assert "/lab/tree/My-Notes.ipynb" in desk.shell("cat run/.jupyter/*.json")
    for name, sentence in (("page.ipynb", "no notebook"), ("other.ipynb", "cannot be downloaded")):
        code, output = desk.run(f"{desk.url}/files/{name}")
        assert (code, sentence in output, desk.shell("ls run")) == (1, True, ""), output


def test_a_hub_gives_all_pages_and_its_token_goes_to_no_other_host(desk: Desk) -> None:
    code, output = desk.run(f"{desk.url}/datasets/acme/data", kind=SourceKind.DATASET)
    assert (code, desk.shell("cd run/data; cat 1 2 b/3")) == (0, "1\n2\nb/3\n"), output
    code, output = desk.run(f"{desk.url}/datasets/acme/data/tree/main/b", kind=SourceKind.DATASET)
    assert (code, desk.shell("cd run/data; find . -type f")) == (0, "./b/3\n"), output
    for url, environment, sentence in (
        ("datasets/acme/hostile", "", "outside of the repository"),
        ("datasets/acme/other", "", "no such repository"),
    ):
        code, output = desk.run(f"{desk.url}/{url}", kind=SourceKind.DATASET, environment=environment)
        assert (code, sentence in output, desk.shell("ls run")) == (1, True, ""), output
    model = f"{desk.url}/private/m"
    code, output = desk.run(model, kind=SourceKind.MODEL)
    assert (code, "needs a token" in output) == (1, True), output
    code, output = desk.run(model, kind=SourceKind.MODEL, environment=f"CARREL_IMPORT_TOKEN={TOKEN}")
    assert (code, desk.shell("cat run/m/weights")) == (0, "weights\n"), output


def test_an_image_without_the_tools_says_so_and_without_git_an_archive_does(desk: Desk) -> None:
    tools = "sh mktemp rm mkdir mv ls head cat chmod grep"
    desk.shell(f"mkdir -p few; for tool in {tools}; do ln -sf $(command -v $tool) few/$tool; done")
    few = "PATH=/home/work/few"
    for url, words in (
        (f"{desk.url}/git/work.git", "no git"),
        (f"{desk.url}/files/one.tar.gz", "none of curl, python3 and wget"),
    ):
        code, output = desk.run(url, environment=few)
        assert (code, words in output, "such as starter" in output) == (1, True, True), output
    code, output = desk.run(f"{desk.url}/datasets/acme/data", kind=SourceKind.DATASET, environment=few)
    assert (code, "no python3" in output) == (1, True), output
    desk.shell("for tool in python3 tar gzip; do ln -sf $(command -v $tool) few/$tool; done")
    code, output = desk.run(f"{desk.url}/files/one.tar.gz", environment=few)
    assert (code, desk.shell("ls run/one")) == (0, "sub\n"), output
