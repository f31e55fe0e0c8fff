"""From *Start* in the launcher to the output of a first cell, against JupyterLab in a bare container opened by hand.

Each turn has a browser context of its own, so that nothing is in its cache; the minima count, since the parts of a
turn take seconds, and whatever else the machine does only adds to them.
"""

import asyncio
import json
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx2
from e2e.own_network import own_network
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from tiny_image import docker_url

from bench.control_plane import EMAIL, ControlPlane, control_plane, free_ports
from bench.engine_floor import Bare
from bench.page import CHROMIUM
from bench.table import Line
from carrel.engines.docker import DockerEngine
from carrel.server import catalogue
from carrel.server.bootstrap.starter import ensure_starter_image

_ROUNDS = 4
_SLOTS = {"cpu": 2000, "mem": 2 << 30}
_LAB = ["/opt/jupyter/bin/jupyter", "lab"]
_MORE_S = 1.5
_LONGEST_MS = 120_000
_RUNNING, _READY, _PAGE, _IDLE, _OUTPUT = "RUNNING", "app ready", "page open", "kernel idle", "output"
_PARTS = (_RUNNING, _READY, _PAGE, _IDLE, _OUTPUT)


@dataclass
class Turn:
    """Seconds from the beginning until each part."""

    began: float = field(default_factory=time.perf_counter)
    at: dict[str, float] = field(default_factory=dict)

    def reached(self, part: str) -> None:
        self.at[part] = time.perf_counter() - self.began


async def measure() -> list[Line]:
    image = await _starter()
    ours: list[Turn] = []
    bare: list[Turn] = []
    async with (
        control_plane(app_layer=False) as own,
        Bare(docker_url(), image) as floor,
    ):
        await _registered(own, image)
        # A browser drops what it loads when a container starts or ends, which changes the machine's network.
        with own_network():
            playwright = await async_playwright().start()
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for number in range(_ROUNDS + 1):
            turns = await _bare_turn(browser, floor), await _turn(browser, own)
            if number:  # the first of each is a warm-up, and the person's first use
                bare.append(turns[0])
                ours.append(turns[1])
        await browser.close()
        await playwright.stop()
    return _lines(ours, bare)


def _lines(ours: Sequence[Turn], bare: Sequence[Turn]) -> list[Line]:
    def least(turns: Sequence[Turn], part: str) -> float:
        return min(turn.at[part] for turn in turns)

    conditions = f"least of {_ROUNDS} by turns, empty browser cache"
    more = least(ours, _OUTPUT) - least(bare, _OUTPUT)
    return [
        Line(
            "first cell: added to a bare JupyterLab",
            f"{more:.2f} s",
            f"Start to the output; {conditions}",
            goal=_MORE_S,
            value=more,
        ),
        *(
            Line(
                f"first cell: until {part}",
                f"{least(ours, part):.2f} s",
                conditions,
                ratio=least(ours, part) / least(bare, part),
                floor=f"{least(bare, part):.2f} s",
            )
            for part in _PARTS
        ),
    ]


async def _starter() -> str:
    engine = DockerEngine(docker_url(), "bench")
    try:
        return await ensure_starter_image(engine, say=print)
    finally:
        await engine.close()


async def _registered(own: ControlPlane, image: str) -> None:
    engine = DockerEngine(docker_url(), own.settings.installation)
    try:
        await catalogue.register(own.database, engine, name="starter", reference=image)
    finally:
        await engine.close()


async def _bare_turn(browser: Browser, floor: Bare) -> Turn:
    """`docker run`, and the address opened as soon as it responds."""
    secret = secrets.token_hex(8)
    turn = Turn()
    port = free_ports()
    name, _ = await floor.start(_SLOTS, _LAB, {"CARREL_APP_SECRET": secret}, {8888: port})
    turn.reached(_RUNNING)
    url = f"http://127.0.0.1:{port}"
    async with httpx2.AsyncClient() as client:
        while True:
            try:
                await client.get(f"{url}/api")
                break
            except httpx2.TransportError:
                await asyncio.sleep(0.02)
    turn.reached(_READY)
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{url}/lab?token={secret}", wait_until="commit")
    await _first_cell(page, turn)
    await context.close()
    await floor.remove(name)
    return turn


async def _turn(browser: Browser, own: ControlPlane) -> Turn:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await _launcher(context, own)
    turn = Turn()
    await page.get_by_role("button", name="Start", exact=True).click()
    open_button = page.get_by_role("button", name="Open JupyterLab")
    await open_button.wait_for(timeout=_LONGEST_MS)
    turn.reached(_RUNNING)
    async with context.expect_page() as opened:
        await open_button.click()
    lab = await opened.value
    await lab.wait_for_url(re.compile("^http://jupyter-"), wait_until="commit", timeout=_LONGEST_MS)
    turn.reached(_READY)
    await _first_cell(lab, turn)
    await context.close()
    async with own.client() as client:
        for session in (await client.get("/sessions")).json()["items"]:
            await client.delete(f"/sessions/{session['id']}", params={"force": "true"})
            async with asyncio.timeout(_LONGEST_MS / 1000):
                while (await client.get(f"/sessions/{session['id']}")).json()["state"] != "TERMINATED":  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
    return turn


async def _launcher(context: BrowserContext, own: ControlPlane) -> Page:
    """The launcher, filled in, in a page that has loaded all its parts."""
    page = await context.new_page()
    page.set_default_timeout(_LONGEST_MS)
    await page.goto(own.url)
    await page.get_by_label("E-mail").fill(EMAIL)
    await page.get_by_label("Password", exact=True).fill(own.password)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await page.get_by_text("Welcome, ").first.wait_for()
    filled = quote(json.dumps({"image": "starter", "slots": _SLOTS}))
    await page.goto(f"{own.url}/sessions?launch=new&with={filled}")
    await page.get_by_text("Starts now").first.wait_for()
    await page.wait_for_load_state("networkidle")
    return page


async def _first_cell(lab: Page, turn: Turn) -> None:
    """A notebook from JupyterLab's own launcher, and one line run in it."""
    lab.set_default_timeout(_LONGEST_MS)
    await lab.locator(".jp-LauncherCard[data-category='Notebook']").first.click()
    turn.reached(_PAGE)
    await lab.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    # Without its kernel JupyterLab forgets what it is asked to run.
    await lab.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
    turn.reached(_IDLE)
    await lab.keyboard.type("print(6 * 7)")
    await lab.keyboard.press("Shift+Enter")
    await lab.locator(".jp-OutputArea-output").get_by_text("42").first.wait_for()
    turn.reached(_OUTPUT)
