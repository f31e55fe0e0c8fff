"""JupyterLab and VS Code of the app layer, in an image that has one program and no shell."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from layer_image import layer_image
from people import wait_until
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tiny_image import ensure_tiny_image

from e2e.running import Running, installation

LAB_MS = 120_000
SESSION = "any-image"


@pytest.fixture(scope="module")
def layered() -> Iterator[Running]:
    """An installation with the layer, and a session of the image that runs."""
    # In a thread: Playwright runs a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(layer_image).result()
        image = thread.submit(asyncio.run, ensure_tiny_image("scratch")).result()
    with installation("layer", layer=True) as running:

        def ready() -> bool:
            status = running.carrel("status", "--data-dir", str(running.data_dir))
            return bool(re.search(r"^app layer +ok ", status.stdout, re.MULTILINE))

        wait_until(ready, within_s=300, every_s=0.5)
        size = ("--cpu", "1", "--mem", "1g")
        done = running.carrel("session", "create", "--image", image, *size, "--name", SESSION, "--wait")
        assert done.returncode == 0, done.stderr
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
    context.set_default_timeout(LAB_MS)
    yield context
    context.close()


def _opened(context: BrowserContext, layered: Running, app: str) -> Page:
    done = layered.carrel("app", "open", SESSION, app, "--print-url", timeout=120)
    assert done.returncode == 0, done.stderr
    page = context.new_page()
    page.goto(done.stdout.strip())
    return page


def test_a_cell_runs_in_an_image_without_python(context: BrowserContext, layered: Running) -> None:
    lab = _opened(context, layered, "jupyter")
    lab.locator(".jp-LauncherCard[data-category='Notebook']").first.click(timeout=LAB_MS)
    cell = lab.locator(".jp-Notebook .jp-Cell .cm-content").first
    cell.click(timeout=LAB_MS)
    expect(lab.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=LAB_MS)
    lab.keyboard.type("print(6 * 7, 'is the answer')")
    lab.keyboard.press("Shift+Enter")
    expect(lab.locator(".jp-OutputArea-output").first).to_have_text(
        re.compile("42 is the answer"), timeout=LAB_MS
    )


def test_vs_code_opens_a_file_and_saves_it(context: BrowserContext, layered: Running) -> None:
    layered.shell(SESSION, "echo before > notes.txt")
    code = _opened(context, layered, "vscode")
    code.get_by_role("treeitem", name="notes.txt").first.dblclick(timeout=LAB_MS)
    line = code.locator(".monaco-editor .view-line").first
    expect(line).to_have_text("before", timeout=LAB_MS)
    line.click()
    expect(code.locator(".monaco-editor.focused")).to_be_visible(timeout=LAB_MS)
    code.keyboard.press("Control+Home")
    code.keyboard.type("edited ")
    expect(line).to_have_text(re.compile(r"edited\sbefore"), timeout=LAB_MS)
    code.keyboard.press("Control+s")
    wait_until(
        lambda: layered.shell(SESSION, 'read -r line < notes.txt; echo "$line"') == "edited before\n",
        every_s=0.5,
    )


def test_the_file_browser_shows_the_home(context: BrowserContext, layered: Running) -> None:
    layered.shell(SESSION, "echo here > shown.txt")
    files = _opened(context, layered, "files")
    expect(files.get_by_role("link", name="shown.txt").first).to_be_visible(timeout=LAB_MS)
