"""The SDK and the HTTP API are the same operations and the same types."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from carrel_client.client import ApiClient

ROOT = Path(__file__).parents[3]
DOCUMENT = json.loads((ROOT / "openapi.json").read_text())
# Where a browser is sent on to a provider, and comes back from it.
FOR_BROWSERS = {"auth.providers_start", "auth.providers_callback"}
OPERATIONS = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - FOR_BROWSERS))
def test_every_operation_is_a_method_of_the_same_name(operation: str) -> None:
    group, verb = operation.split(".")
    assert callable(getattr(getattr(ApiClient("http://localhost"), group), verb))


@pytest.mark.parametrize("tool", ["python_client.py", "python_async.py", "cli_docs.py", "reference.py"])
def test_what_is_generated_is_current(tool: str) -> None:
    check = [sys.executable, ROOT / "tools" / tool, "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_imports_nothing_heavy_for_a_list() -> None:
    heavy = {
        "typing",
        "ssl",
        "http.client",
        "email",
        "asyncio",
        "websockets",
        "pydantic",
        "dataclasses",
        "shutil",
    }
    program = (
        "import sys; from carrel_client.cli.main import main; main(['session', 'ls', '--help']);"
        "import carrel_client.client; print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert heavy.isdisjoint(done.stderr.split())
