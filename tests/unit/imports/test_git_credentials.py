"""The program that answers Git's prompts with a token."""

import subprocess
from pathlib import Path

import pytest

import carrel.imports

SCRIPT = Path(carrel.imports.__file__).parent / "scripts" / "git.sh"


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompted")
    program = SCRIPT.read_text().partition("<<'ASK'\n")[2].partition("\nASK\n")[0]
    (folder / "ask").write_text(program + "\n")
    (folder / "token").write_text("s3cret")
    return folder


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Username for 'https://github.com': ", "oauth2\n"),
        ("Password for 'https://oauth2@github.com': ", "s3cret\n"),
        ('Password for "https://oauth2@github.com": ', "s3cret\n"),
        ("Password for 'https://oauth2@github.com/acme/work.git': ", "s3cret\n"),
        ("Password for 'https://evil.example': ", ""),
        ("Password for 'https:////github.com/@evil.example': ", ""),
        ("Password for 'https://x@github.com'@evil.example': ", ""),
        ("Password for 'https://github.com.evil.example': ", ""),
    ],
)
def test_the_token_is_for_its_host_alone(prompted: Path, prompt: str, answer: str):
    environment = {"ASK_HOST": "github.com", "ASK_TOKEN": str(prompted / "token"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", str(prompted / "ask"), prompt], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == answer, done
