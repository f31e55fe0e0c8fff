"""Environments built on the page, from a Git repository and from a folder."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_server import TOKEN, repository, serving
from playwright.sync_api import Locator, expect

from e2e.desk import Desk
from e2e.people import administrator
from e2e.running import Running

BUILT_MS = 120_000
DOCKERFILE = "FROM starter\nCOPY data /data\n"


def _own_address() -> str:
    """An address of this machine that is not its loopback. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


@pytest.fixture
def git(carrel: Running, tmp_path: Path) -> Iterator[str]:
    """A server of Git repositories, which the site permits."""
    host = _own_address()
    with administrator(carrel) as api, serving(tmp_path, host) as port:
        assert api.patch("/site", json={"import_sources": [host]}).is_success
        try:
            yield f"http://{host}:{port}"
        finally:
            api.patch("/site", json={"import_sources": []})


@pytest.fixture
def folder(carrel: Running) -> Iterator[str]:
    name = "build-page"
    with administrator(carrel) as api:
        made = api.post("/vfolders", json={"name": name})
        assert made.is_success, made.text
        for path, content in (("lab/Dockerfile", DOCKERFILE), ("lab/data", "1")):
            where = {"path": path}
            assert api.put(f"/vfolders/{name}/content", params=where, content=content).is_success
        try:
            yield name
        finally:
            for environment in ("from-git", "from-folder"):
                api.delete(f"/environments/{environment}")
            api.post(f"/vfolders/{name}/trash")
            api.delete(f"/vfolders/{made.json()['id']}", params={"name": name})


def test_a_private_repository_and_a_folder_are_built(
    desk: Desk, carrel: Running, git: str, folder: str, tmp_path: Path
) -> None:
    page = desk.page
    commit = repository(tmp_path, "private", {"binder/Dockerfile": DOCKERFILE, "data": "2"})
    desk.go("/my-environments")
    form = _dialog(desk, "from-git", "Git repository")
    form.get_by_label("Address").fill(f"{git}/private.git")
    form.get_by_label("Branch, tag or commit").fill("main")
    expect(form).to_contain_text(f"carrel environment build from-git --git {git}/private.git --ref main")
    # Submitted from the top, an error at the end comes into view.
    form.get_by_label("Name of the environment").press("Control+Enter")
    alert = form.get_by_role("alert")
    expect(alert).to_contain_text("build.git_failed")
    expect(alert).to_be_in_viewport(ratio=1)
    form.get_by_role("combobox", name="Private source").click()
    page.get_by_role("option", name="Access token").click()
    form.locator("input[type=password]").fill(TOKEN)
    _built(desk, form, "from-git", f"{git}/private.git@{commit}")

    desk.go("/my-environments")
    form = _dialog(desk, "from-folder", "Folder")
    form.get_by_role("combobox", name="Folder").click()
    page.get_by_role("option", name=folder).click()
    form.get_by_label("Directory").fill("lab")
    expect(form).to_contain_text(f"carrel environment build from-folder --folder {folder}:lab")
    _built(desk, form, "from-folder", f"vfolder {folder}:lab")


def _dialog(desk: Desk, name: str, source: str) -> Locator:
    desk.page.get_by_role("button", name="Build", exact=True).first.click()
    form = desk.page.get_by_role("dialog", name="Build an environment")
    form.get_by_label("Name of the environment").fill(name)
    form.get_by_role("radiogroup", name="Build from").get_by_text(source, exact=True).click()
    return form


def _built(desk: Desk, form: Locator, name: str, source: str) -> None:
    """Send the form, and wait until the version is built."""
    form.get_by_role("button", name="Build", exact=True).click()
    expect(form).to_be_hidden()
    drawer = desk.page.get_by_role("dialog", name=name)
    expect(drawer.get_by_role("log")).to_contain_text("COPY data /data", timeout=BUILT_MS)
    expect(drawer.get_by_role("button", name="Build again")).to_be_visible(timeout=BUILT_MS)
    drawer.get_by_role("button", name="Recipe").click()
    expect(drawer.get_by_text(source, exact=True)).to_be_visible()
