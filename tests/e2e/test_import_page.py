"""Import & Run on the page: an address is recognized, the launcher starts it, and JupyterLab opens the notebook."""

import json
import re

from playwright.sync_api import expect

from e2e.desk import STARTS_MS, Desk

URL = "http://sources.test/demo.ipynb"
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# It has arrived"]}],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
)
# The session is its own proxy to the source, because it reaches nothing else here.
PROXY = "http://127.0.0.1:8123"
SERVE = f"""mkdir -p http:/sources.test; echo '{NOTEBOOK}' > http:/sources.test/demo.ipynb
python3 -m http.server 8123 >/dev/null 2>&1 &
until curl -fs -o /dev/null {URL}; do sleep 0.1; done
"""
LAB_MS = 90_000


def test_a_pasted_address_becomes_a_session_that_opens_the_notebook(desk: Desk) -> None:
    page = desk.page
    desk.go("/import")
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Nothing to import yet")
    address = page.get_by_label("Address")
    address.fill("file:///etc/passwd")
    expect(preview.get_by_role("alert")).to_contain_text("import.bad_url")
    address.fill(URL)
    expect(preview).to_contain_text("sources.test")
    expect(preview).to_contain_text("JupyterLab demo.ipynb")
    expect(preview.get_by_text("The connection is not encrypted")).to_be_visible()
    expect(preview.get_by_role("region", name="Script")).to_contain_text(f"url={URL}")
    expect(page).to_have_url(re.compile(r"/import\?url="))
    badge = page.get_by_role("region", name="Badge")
    expect(badge.locator("code").first).to_contain_text("/import?url=http%3A%2F%2Fsources.test%2Fdemo.ipynb")
    assert badge.get_by_role("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    # A token waits for the launcher, and is not in the address.
    page.get_by_role("combobox", name="Private source").click()
    page.get_by_role("option", name="Access token").click()
    proceed = preview.get_by_role("button", name="Continue in the launcher")
    expect(proceed).to_be_disabled()
    page.get_by_label("Token", exact=True).fill("s3cret-token")
    proceed.click()
    drawer = page.get_by_role("dialog", name="Start a session")
    script = drawer.get_by_label("Bootstrap script")
    expect(script).to_have_value(re.compile("demo.ipynb"))
    expect(drawer.get_by_label("Value of variable 1")).to_have_value("s3cret-token")
    assert "s3cret" not in page.url
    # Nothing has started yet.
    assert (
        json.loads(desk.carrel.carrel("session", "ls", "--search", "demo-", "-o", "json").stdout)["items"]
        == []
    )
    name = drawer.get_by_label("Name", exact=True).input_value()
    drawer.get_by_label("CPU cores", exact=True).fill("0.75")
    drawer.get_by_label("Memory", exact=True).fill("0.5")
    script.fill(SERVE + script.input_value())
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 2").fill("http_proxy")
    drawer.get_by_label("Value of variable 2").fill(PROXY)
    try:
        drawer.get_by_role("button", name="Start", exact=True).click()
        expect(drawer).to_be_hidden()
        with page.context.expect_page() as opened:
            page.get_by_role("button", name="Open JupyterLab").click(timeout=STARTS_MS)
        lab = opened.value
        lab.wait_for_url(re.compile(r"^http://jupyter-.*/lab/tree/demo\.ipynb"), timeout=LAB_MS)
        expect(lab.locator(".jp-MarkdownOutput h1").first).to_contain_text("It has arrived", timeout=LAB_MS)
    finally:
        desk.carrel.carrel("session", "rm", "--yes", name, "--force")


def test_a_badge_fills_in_the_form_and_starts_nothing(desk: Desk) -> None:
    page = desk.page
    made = desk.carrel.carrel("vfolder", "create", "imported_data")
    assert made.returncode == 0, made.stderr
    try:
        desk.go(
            "/import?url=https%3A%2F%2Fgithub.com%2Facme%2Fwork%2Fblob%2Fmain%2Fa%20b.ipynb&ref=%22v1.10%22"
        )
        preview = page.get_by_role("region", name="Preview")
        expect(page.get_by_label("Branch, tag or commit")).to_have_value("v1.10")
        expect(preview).to_contain_text("Git repository")
        page.get_by_role("radiogroup", name="Fetch into").get_by_text("Folder", exact=True).click()
        page.get_by_role("combobox", name="Folder").click()
        page.get_by_role("option", name="imported_data").click()
        expect(preview).to_contain_text("/home/work/imported_data/work")
        expect(preview.locator("code")).to_contain_text("--ref v1.10")
        expect(preview.locator("code")).to_contain_text("--folder imported_data")
        preview.get_by_role("button", name="Continue in the launcher").click()
        drawer = page.get_by_role("dialog", name="Start a session")
        expect(drawer.get_by_role("textbox", name="Command")).to_have_value(
            re.compile("github.com/acme/work.git")
        )
        expect(drawer.get_by_role("combobox", name="Folder 1")).to_have_value("imported_data")
    finally:
        desk.carrel.carrel("vfolder", "trash", "--yes", "imported_data")
