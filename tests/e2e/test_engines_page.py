"""The Engines page: engines are added, checked, changed and removed, and their secrets stay secret."""

import json
from collections.abc import Iterator

import httpx2
import pytest
from own_dockerd import OwnDockerd
from playwright.sync_api import Locator, expect

from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator, fresh
from e2e.running import Running

SECRET = "violet-harbour-engine-9"


@pytest.fixture
def api(carrel: Running) -> Iterator[httpx2.Client]:
    """Whatever was added is gone afterwards: other journeys know one node."""
    with administrator(carrel) as client:
        yield client
        for engine in client.get("/engines").json()["items"]:
            if not engine["local"]:
                assert client.delete(f"/engines/{engine['id']}").status_code == 204


@pytest.fixture
def daemon() -> Iterator[OwnDockerd]:
    """Request for first: the engine is removed while it answers."""
    with OwnDockerd() as daemon:
        yield daemon


def _drawer(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("dialog", name=name, exact=True)


def _form(desk: Desk, kind: str) -> Locator:
    """The form for another engine of a kind, opened from the list."""
    desk.go("/resources/engines")
    desk.page.get_by_role("button", name="New engine").first.click()
    form = _drawer(desk, "New engine")
    form.get_by_role("combobox", name="Kind").click()
    desk.page.get_by_role("option", name=kind, exact=True).click()
    return form


def test_engine_is_added_checked_and_removed(daemon: OwnDockerd, desk: Desk, api: httpx2.Client) -> None:
    page, rack = desk.page, fresh("rack")
    # 1. One that does not answer is not added.
    form = _form(desk, "Docker or Podman")
    form.get_by_role("textbox", name="Name").fill(rack)
    form.get_by_role("textbox", name="Address", exact=True).fill(f"{daemon.url}.elsewhere")
    form.get_by_role("button", name="Create", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("does not")
    # 2. One that does is listed, and ready soon.
    form.get_by_role("textbox", name="Address", exact=True).fill(daemon.url)
    form.get_by_role("button", name="Create", exact=True).click()
    expect(form).to_be_hidden()
    drawer = _drawer(desk, rack)
    expect(drawer.locator("[data-state=READY]")).to_be_visible(timeout=STARTS_MS)
    expect(drawer).to_contain_text(daemon.url)
    # Its check has begun by itself.
    expect(drawer.get_by_role("status")).to_contain_text("Docker", timeout=STARTS_MS)
    # 3. A check that fails says why.
    daemon.kill()
    drawer.get_by_role("button", name="Check").click()
    expect(drawer.get_by_role("status")).to_contain_text(daemon.url, timeout=STARTS_MS)
    expect(drawer.get_by_role("status")).to_contain_text("does not")
    expect(desk.row(rack)).to_contain_text("Down", timeout=STARTS_MS)
    daemon.start()
    # 4. It goes, once its name is typed.
    drawer.get_by_role("button", name="Remove").click()
    question = page.get_by_role("dialog", name="Remove engine")
    question.get_by_role("textbox").fill(rack)
    question.get_by_role("button", name="Remove").click()
    expect(desk.row(rack)).to_have_count(0)
    assert [one["name"] for one in api.get("/engines").json()["items"]] == ["local"]


def test_settings_of_a_cluster_are_checked_before_it_is_added(desk: Desk, api: httpx2.Client) -> None:
    form = _form(desk, "Kubernetes")
    form.get_by_role("textbox", name="Name", exact=True).fill(fresh("cluster"))
    expect(form.get_by_role("textbox", name="API server")).to_have_count(0)
    form.get_by_role("textbox", name="Kubeconfig").fill("clusters: []\nusers: []\ncontexts: []\n")
    form.get_by_role("button", name="Check").click()
    result = form.get_by_role("status")
    expect(result).to_contain_text("The kubeconfig has no current context")
    form.get_by_text("Address and token").click()
    expect(form.get_by_role("textbox", name="Kubeconfig")).to_have_count(0)
    form.get_by_role("textbox", name="API server").fill("https://127.0.0.1:1")
    form.get_by_role("button", name="Check").click()
    expect(result).to_contain_text("does not respond")
    form.get_by_role("combobox", name="Kind").click()
    desk.page.get_by_role("option", name="Fake", exact=True).click()
    form.get_by_role("button", name="Check").click()
    expect(result).to_contain_text("fake-1")
    expect(result).to_contain_text("Sessions cannot have root inside.")
    assert [one["name"] for one in api.get("/engines").json()["items"]] == ["local"]


def test_secret_of_an_engine_is_set_kept_and_never_given_back(desk: Desk, api: httpx2.Client) -> None:
    page, name = desk.page, fresh("made-up")
    answers: list[str] = []
    page.on("response", lambda answer: "/engines" in answer.url and answers.append(answer.text()))
    form = _form(desk, "Fake")
    form.get_by_role("textbox", name="Name").fill(name)
    form.get_by_label("Password", exact=True).fill(SECRET)
    form.get_by_role("button", name="Create", exact=True).click()
    expect(form).to_be_hidden()
    drawer = _drawer(desk, name)
    expect(drawer).to_contain_text("password")
    # It is changed without the secret being given again.
    drawer.get_by_role("button", name="Edit").click()
    form = _drawer(desk, f"Edit {name}")
    expect(form.get_by_label("Password", exact=True)).to_have_value("")
    form.get_by_role("textbox", name="Name").fill(f"{name}-b")
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    expect(_drawer(desk, f"{name}-b")).to_be_visible()
    shown = api.get(f"/engines/{name}-b").json()
    assert shown["secrets"] == ["password"]
    assert SECRET not in json.dumps(shown)
    assert SECRET not in page.content()
    assert answers
    assert not any(SECRET in answer for answer in answers)
    page.reload()
    expect(desk.row("local")).to_be_visible()
