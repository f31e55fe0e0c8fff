"""What an import would do, by the API, the command line and the SDK; and the session that comes of it."""

import asyncio
from pathlib import Path

import pytest
from auth_kit import set_site
from carrel_client import Carrel
from command_line import command_line
from files_kit import folder
from installation import Api

from carrel.images import service as images

URL = "https://github.com/acme/work/blob/main/a/n.ipynb"
SECRET = "ghp_very-secret"


async def catalogue(api: Api) -> None:
    """A plain image, one with JupyterLab, and one for machine learning with it."""
    jupyter = {"name": "jupyter", "title": "JupyterLab", "protocol": "http", "port": 8888}
    for name, title, apps in (
        ("alpine", "Alpine", []),
        ("starter", "Starter", [jupyter]),
        ("torch", "PyTorch", [jupyter]),
    ):
        async with api.database.transaction() as tx:
            await images.register(
                tx,
                name=name,
                reference=f"example.org/{name}:1",
                title=title,
                description="",
                size_bytes=1,
                architecture=None,
                apps=apps,
                min_slots={"cpu": 100, "mem": 2 << 30},
            )


async def test_a_preview_tells_what_runs_where_and_its_request_starts_that(living: Api) -> None:
    await catalogue(living)
    user = await living.as_("user")
    shown = (await user.post("/imports/preview", {"url": URL})).json()
    assert (shown["kind"], shown["host"], shown["ref"]) == ("git", "github.com", "main")
    assert (shown["image"], shown["app"], shown["opens"]) == (
        "starter",
        "jupyter",
        "/lab/tree/work/a/n.ipynb",
    )
    assert (shown["target"], shown["warnings"], shown["variable"]) == ("/home/work/work", [], None)
    assert shown["session"]["bootstrap"] == shown["script"]
    assert shown["session"]["slots"] == {"cpu": 1000, "mem": 2 << 30}
    session = await user.start(
        **{**shown["session"], "slots": {"cpu": 100, "mem": 64 << 20}, "image": "debian:12"}
    )
    assert session["name"].startswith("work-")
    assert session["description"] == "Import of github.com/acme/work"
    model = (await user.post("/imports/preview", {"url": "hf.co/acme/model"})).json()
    assert (model["kind"], model["image"]) == ("model", "torch")
    other = (await user.post("/imports/preview", {"url": URL, "image": "alpine"})).json()
    assert (other["image"], other["app"], other["opens"]) == ("alpine", None, None)


async def test_into_a_folder_goes_a_batch_session_that_mounts_it(api: Api) -> None:
    data = await folder(api)
    user = await api.as_("user")
    shown = (await user.post("/imports/preview", {"url": URL, "folder": "data", "install": True})).json()
    assert shown["target"] == "/home/work/data/work"
    assert (shown["warnings"], shown["app"]) == (["install_unused"], None)
    session = await user.start(
        **{**shown["session"], "slots": {"cpu": 100, "mem": 64 << 20}, "image": "debian:12"}
    )
    assert (session["kind"], session["command"]) == ("batch", ["/bin/sh", "-c", shown["script"]])
    assert [mount["folder_id"] for mount in session["mounts"]] == [data.id]
    stranger = await api.as_("colleague")
    hidden = await stranger.post("/imports/preview", {"url": URL, "folder": data.id})
    assert (hidden.status_code, hidden.json()["code"]) == (404, "vfolder.not_found")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"url": "https://a:b@github.com/a/b"}, "import.credentials_in_url", "url"),
        ({"url": "file:///etc/passwd"}, "import.bad_url", "url"),
        ({"url": "http://localhost/a.ipynb"}, "import.not_reachable", "url"),
        ({"url": URL, "ref": "--upload-pack=id"}, "import.bad_ref", "ref"),
        ({"url": URL, "path": "../.."}, "import.bad_path", "path"),
        ({"url": "git@host.org:a/b", "credentials": "token"}, "import.wrong_credentials", "credentials"),
        ({"url": "https://host.org/a.zip", "credentials": "key"}, "import.wrong_credentials", "credentials"),
    ],
)
async def test_what_cannot_be_imported_names_the_field(
    api: Api, body: dict[str, str], code: str, field: str
) -> None:
    answer = await (await api.as_("user")).post("/imports/preview", body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, field)


@pytest.mark.parametrize(
    ("body", "warnings"),
    [
        ({"url": "http://host.org/a/b"}, ["guessed", "plain_http"]),
        ({"url": "http://host.org/a/b", "kind": "git"}, ["plain_http"]),
        (
            {"url": "https://host.org/a.ipynb?sig=1", "ref": "v1", "path": "x"},
            ["query_kept", "ref_unused", "path_unused"],
        ),
        ({"url": "git@host.org:a/b.git"}, ["key_needed"]),
    ],
)
async def test_what_a_person_should_know_is_told(api: Api, body: dict[str, str], warnings: list[str]) -> None:
    assert (await (await api.as_("user")).post("/imports/preview", body)).json()["warnings"] == warnings


async def test_only_permitted_sources_are_imported_by_any_way_that_leads_there(api: Api) -> None:
    await set_site(api, import_sources=["github.com/acme", "*.example.org"])
    user = await api.as_("user")
    for url, status in (
        (URL, 200),
        ("git@github.com:acme/work.git", 200),
        ("https://raw.githubusercontent.com/acme/work/main/n.ipynb", 200),
        ("https://git.example.org/a/b.git", 200),
        ("https://github.com/acme-other/work", 403),
        ("https://github.com/other/work", 403),
        ("https://raw.githubusercontent.com/other/work/main/n.ipynb", 403),
        ("https://github.com.evil.org/acme/work.git", 403),
        ("https://github.com/acme/%2e%2e/other/work", 422),
    ):
        answer = await user.post("/imports/preview", {"url": url})
        assert answer.status_code == status, url
    await set_site(api, import_sources=["git.example.org:8443"])
    for credentials, status in (("token", 200), ("key", 403)):
        address = "https://git.example.org:8443/a/b.git"
        answer = await user.post("/imports/preview", {"url": address, "credentials": credentials})
        assert answer.status_code == status, credentials
    # What the person says that it is does not matter.
    answer = await user.post("/imports/preview", {"url": "https://evil.org/acme/m", "kind": "model"})
    assert answer.json()["code"] == "import.source_not_permitted"
    assert "git.example.org:8443" in answer.json()["hint"]


async def test_a_secret_is_a_variable_that_only_its_owner_reads(living: Api, tmp_path: Path) -> None:
    command = await command_line(living, "user", tmp_path)
    words = ("import", URL, "--image", "debian:12", "--cpu", "0.1", "--mem", "64m")
    assert "sh -c" not in await command.ok(*words)
    assert (await command.as_json("session", "ls"))["items"] == []
    shown = await command.as_json(*words, "--token-file", "-")
    assert shown["variable"] == "CARREL_IMPORT_TOKEN"
    key = ("--name", "private_one", "--key-file", "-", "--start", "-o", "json")
    text = await command.ok(*words, *key, stdin=f"{SECRET}\n".encode())
    own = await command.as_json("session", "show", "private_one")
    assert own["env"] == {"CARREL_IMPORT_KEY": SECRET}
    assert "ssh://git@github.com/acme/work.git" in own["bootstrap"]
    assert SECRET not in own["bootstrap"]
    assert SECRET not in text.replace(f'"CARREL_IMPORT_KEY": "{SECRET}"', "").replace(f'"{SECRET}"', "")
    admin = await living.as_("superadmin")
    seen = (await admin.get(f"/sessions/{own['id']}")).text
    assert SECRET not in seen
    assert SECRET not in (await admin.get("/audit?limit=100")).text


async def test_a_terminal_asks_and_a_folder_is_filled(living: Api, tmp_path: Path) -> None:
    await folder(living)
    command = await command_line(living, "user", tmp_path)
    words = ("import", URL, "--folder", "data", "--image", "debian:12", "--cpu", "0.1", "--mem", "64m")
    for answer, count in (("n", 0), ("y", 1)):
        async with command.in_terminal(*words, cols=200, rows=300) as screen:
            await screen.until(b"[y/N] ")
            await screen.press(f"{answer}\n".encode())
            assert await screen.ended() == 0
        assert len((await command.as_json("session", "ls", "--state", "all"))["items"]) == count


async def test_the_sdk_previews_and_starts(living: Api) -> None:
    access, secret = await living.keypair(living.people.user)

    def use() -> tuple[str, str, dict[str, str]]:
        with Carrel(living.url, access, secret) as carrel:
            shown = carrel.imports.preview(URL, image="debian:12")
            session = carrel.imports.start(
                URL, image="debian:12", cpu=0.1, mem="64m", token=SECRET, name="by_sdk"
            )
            raw = carrel.api.sessions.show(session.id)
            return shown["opens"] or "", session.name, raw["env"]

    assert await asyncio.to_thread(use) == ("", "by_sdk", {"CARREL_IMPORT_TOKEN": SECRET})
