"""openapi.json says what the server does: who is let in, and that clients made from it work."""

import asyncio
import importlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folder_kit import folder
from installation import Api, document
from session_kit import SMALL

ROOT = Path(__file__).parents[3]


async def test_who_sends_no_credentials_gets_as_far_as_the_document_says(api: Api):
    anonymous = await api.as_("anonymous")
    for path, methods in document()["paths"].items():
        place = path.removeprefix("/api/v1").replace("{", "").replace("}", "")
        for method, operation in methods.items():
            answer = await anonymous.ask(method.upper(), place, follow_redirects=False)
            # Without an acceptable body, before whose check credentials are looked at.
            assert (answer.status_code == 401) == bool(operation["security"]), (
                operation["operationId"],
                answer,
            )


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package that openapi-python-client makes of the document, on the path of imports."""
    target = tmp_path_factory.mktemp("generated")
    done = subprocess.run(
        [
            Path(sys.executable).with_name("openapi-python-client"),
            "generate",
            "--path",
            ROOT / "openapi.json",
            "--config",
            ROOT / "clients/openapi-python-client.yaml",
            "--output-path",
            target,
            "--overwrite",
            "--fail-on-warning",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "WARNING" not in output, output
    sys.path.insert(0, str(target))
    yield target / "carrel_api"
    sys.path.remove(str(target))


def test_a_generated_client_has_every_operation(generated: Path):
    names = {path.stem for path in generated.glob("api/*/*.py")}
    expected = {
        operation["operationId"].replace(".", "_")
        for methods in document()["paths"].values()
        for operation in methods.values()
    }
    assert expected <= names, sorted(expected - names)
    for path in generated.rglob("*.py"):
        parts = path.relative_to(generated.parent).with_suffix("").parts
        importlib.import_module(".".join(part for part in parts if part != "__init__"))


async def test_a_generated_client_works(api: Api, generated: Path):
    def module(name: str) -> Any:
        return importlib.import_module(f"carrel_api.{name}")

    caller = await api.as_("user")
    made = await caller.post("/tokens", {"name": "generated", "scopes": ["*"]})
    client = module("client").AuthenticatedClient(base_url=api.url, token=made.json()["token"])
    models = module("models")

    async def call(name: str, *words: str, **options: Any) -> Any:
        return await asyncio.to_thread(module(f"api.{name}").sync, *words, client=client, **options)

    request = models.SessionCreate.from_dict({"image": "debian:12", "slots": SMALL, "name": "from-generated"})
    created = await call("sessions.sessions_create", body=request)
    assert created.name == "from-generated"
    listed = await call("sessions.sessions_list")
    assert [each.id for each in listed.items] == [created.id]

    ref = (await folder(caller, "bytes"))["id"]
    content = module("types").File(payload=io.BytesIO(b"bytes of a file"))
    written = await call("files.files_write", ref, body=content, path="a.txt")
    assert written.path == "a.txt"
    back = await call("files.files_download", ref, path="a.txt")
    assert back.payload.read() == b"bytes of a file"

    refused = await call("sessions.sessions_show", "none-such")
    assert (refused.status, refused.code) == (404, "session.not_found")
