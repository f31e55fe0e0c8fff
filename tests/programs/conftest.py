"""One installation and one session, which has all programs, for all journeys; see programs_image.py."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from e2e.conftest import Opener, browser, open_desk, pytest_runtest_makereport, signed_in
from e2e.desk import Desk
from e2e.running import Running, installation
from playwright.sync_api import Page
from program_journeys import SESSION, STARTS_S, Opened, begin
from programs_image import programs_image

__all__ = ["browser", "open_desk", "pytest_runtest_makereport", "signed_in"]


@pytest.fixture(scope="package")
def carrel() -> Iterator[Running]:
    """Runs the session, which has a folder mounted."""
    # In a thread: Playwright runs a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        image = thread.submit(programs_image).result()
    with installation("programs") as running:
        begin(running, image)
        yield running


@pytest.fixture
def desk(open_desk: Opener) -> Desk:
    desk = open_desk()
    desk.page.set_default_timeout(STARTS_S * 1000)
    return desk


@pytest.fixture
def page(desk: Desk) -> Page:
    """A tab of its own for an app."""
    return desk.page


@pytest.fixture
def opened(carrel: Running, page: Page) -> Iterator[Opened]:
    """Opens an app in the tab: `opened("gradio", file="app.py")`. All that were opened are stopped afterwards."""
    apps: list[str] = []

    def open_one(app: str, **options: str) -> Page:
        chosen = [word for name, value in options.items() for word in ("--option", f"{name}={value}")]
        done = carrel.carrel("app", "open", SESSION, app, *chosen, "--print-url", timeout=STARTS_S)
        assert done.returncode == 0, done.stderr
        apps.append(app)
        page.goto(done.stdout.strip())
        return page

    yield open_one
    for app in apps:
        done = carrel.carrel("app", "stop", SESSION, app)
        assert done.returncode == 0, done.stderr
