"""One installation and one browser for all journeys; each journey has its own tab, and a screenshot if it fails."""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from e2e.desk import Desk
from e2e.own_network import own_network
from e2e.roles import Roles
from e2e.running import Running, installation

# The engine without a browser's own windows around each tab, which are web pages, too, and cost as much.
CHROMIUM = "/usr/bin/chromium-headless-shell"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TRACING = bool(os.environ.get("CARREL_TRACE"))
"""Keep Playwright's trace of what fails, too; it costs a third more time."""
SLOWER = float(os.environ.get("CARREL_SLOW_BROWSER", "1"))
"""How many times slower pages run than they could: finds journeys that are right on a fast machine only."""
RESULTS = Path(__file__).parents[2] / "test-results"
RECENT_S = 8 * 60
SMALL = ("--image", "starter", "--cpu", "0.25", "--mem", "256m")

_failed = pytest.StashKey[bool]()
_serial = itertools.count(1)

expect.set_options(timeout=30_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:  # type: ignore[attr-defined]
        item.stash[_failed] = True
    return report


@pytest.fixture(scope="package")
def carrel() -> Iterator[Running]:
    """The installation that all journeys go through."""
    with installation() as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Package scope: Playwright's loop must be gone before suites that run their own begin.
    with ExitStack() as stack:
        with own_network():
            playwright = stack.enter_context(sync_playwright())
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def signed_in(carrel: Running, browser: Browser) -> Callable[[], Path]:
    """Gives the storage of a browser in which the administrator has signed in recently.

    Sensitive actions need a sign-in of the last 15 minutes, and all journeys may take longer.
    """
    path = carrel.data_dir.parent / "browser.json"

    def recent() -> Path:
        if path.exists() and time.time() - path.stat().st_mtime < RECENT_S:
            return path
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.set_default_timeout(20_000)
        desk = Desk(page, carrel)
        desk.go("/")
        desk.sign_in()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
        context.storage_state(path=path)
        context.close()
        return path

    return recent


Opener = Callable[..., Desk]


@pytest.fixture
def open_desk(
    request: pytest.FixtureRequest, carrel: Running, browser: Browser, signed_in: Callable[[], Path]
) -> Iterator[Opener]:
    """Opens tabs, each in a browser of its own: `open_desk(locale="ko-KR")`. Signed in unless `stranger=True`."""
    contexts: list[BrowserContext] = []
    noticed: list[str] = []

    def open_one(*, stranger: bool = False, **options: object) -> Desk:
        settings = {
            "locale": "en-GB",
            "viewport": {"width": 1440, "height": 900},
            "reduced_motion": "reduce",
            **options,
        }
        context = browser.new_context(storage_state=None if stranger else signed_in(), **settings)  # type: ignore[arg-type]
        if TRACING:
            context.tracing.start(screenshots=True, snapshots=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        if SLOWER > 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.on("console", lambda one: noticed.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
        page.on("requestfailed", lambda one: noticed.append(f"{one.method} {one.url}: {one.failure}"))
        return Desk(page, carrel)

    yield open_one
    for number, context in enumerate(contexts):
        name = f"{request.node.name}-{number}"
        if request.node.stash.get(_failed, False):
            RESULTS.mkdir(exist_ok=True)
            for page in context.pages:
                page.screenshot(path=RESULTS / f"{name}.png")
                noticed.append(f"{page.url} showed:\n{page.locator('body').inner_text()[:4000]}")
            request.node.add_report_section("teardown", "browser", "\n".join(noticed[-40:]))
            if TRACING:
                context.tracing.stop(path=RESULTS / f"{name}.zip")
        context.close()


@pytest.fixture(scope="package")
def roles(carrel: Running) -> Roles:
    """One person of each role, in a domain and a project of their own."""
    roles = Roles(carrel)
    roles.set_up()
    return roles


@pytest.fixture
def desk(open_desk: Opener) -> Desk:
    return open_desk()


@pytest.fixture
def page(desk: Desk) -> Page:
    return desk.page


@pytest.fixture(scope="package")
def running_session(carrel: Running) -> str:
    """The name of a session that runs as long as the journeys last. Whoever uses it leaves it running."""
    # JupyterLab starts in it, hence more CPU than the others have.
    done = carrel.carrel("session", "create", *SMALL, "--cpu", "0.75", "--name", "shared_desk", "--wait")
    assert done.returncode == 0, done.stderr
    return "shared_desk"


@pytest.fixture
def own_session(carrel: Running) -> Iterator[str]:
    """The name of a running session that the test may do anything to."""
    name = f"own_desk_{next(_serial)}"
    done = carrel.carrel("session", "create", *SMALL, "--name", name, "--wait")
    assert done.returncode == 0, done.stderr
    yield name
    carrel.carrel("session", "rm", "--yes", name, "--force")
