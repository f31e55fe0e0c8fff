"""The page in a browser: signed in, and used to upload a directory."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright

from bench.helper_process import helper

CHROMIUM = "/usr/bin/chromium-headless-shell"
_LOOK_S = 0.1
"""Polling interval: each poll reads the directory of received files, on the same cores."""
_LONGEST_S = 600
_NOTE_WHEN_CHOSEN = (
    """addEventListener("change", () => { window.chosenAt = Date.now() }, { capture: true })"""
)


@asynccontextmanager
async def signed_in(url: str, email: str, password: str, *, script: str) -> AsyncIterator[Page]:
    """A browser's page at the URL after sign-in. script: evaluated before the page's own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = await browser.new_page(viewport={"width": 1440, "height": 900})
            await page.add_init_script(script)
            await page.goto(url)
            await page.get_by_label("E-mail").fill(email)
            await page.get_by_label("Password", exact=True).fill(password)
            await page.get_by_role("button", name="Sign in", exact=True).click()
            yield page
        finally:
            await browser.close()


async def discarded(directory: Path) -> float:
    """Seconds in which the browser alone sends the files of a directory as the page does, to a server that discards
    them.
    """
    async with helper("bench.discard") as port, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = await browser.new_page()
            await page.goto(f"http://127.0.0.1:{port}/")
            await page.locator("input").set_input_files(directory)
            return float(await page.evaluate("sendAll()"))
        finally:
            await browser.close()


async def uploaded(
    url: str, email: str, password: str, directory: Path, *, until: Callable[[], bool]
) -> float:
    """Seconds from choosing the directory on the folder's page until the upload is complete."""
    async with signed_in(url, email, password, script=_NOTE_WHEN_CHOSEN) as page:
        chooser = page.locator("input[webkitdirectory]").first
        await chooser.wait_for(state="attached")
        choosing = asyncio.create_task(chooser.set_input_files(directory))
        async with asyncio.timeout(_LONGEST_S):
            while not until():  # noqa: ASYNC110 - a directory sends no notifications
                await asyncio.sleep(_LOOK_S)
        over = time.time()
        await choosing
        return over - float(await page.evaluate("window.chosenAt")) / 1000
