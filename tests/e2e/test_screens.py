"""Pictures of the pages in both themes and three widths, compared with those in `screens`, which were looked at.

A quarter of the size, so that a name or a figure that differs does not count, but a card, a column, a colour or a theme
does. After a change that is meant: `CARREL_KEEP_SCREENS=1` replaces the pictures; look at each one in the diff.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import RESULTS, Opener
from e2e.desk import Desk
from e2e.running import Running, installation

SCREENS = Path(__file__).parent / "screens"
KEEP = bool(os.environ.get("CARREL_KEEP_SCREENS"))
MOST = 0.02
"""The fraction of a picture's cells of 8 by 8 pixels that may differ."""

PATHS = (
    "/",
    "/dashboard",
    "/settings/notifications",
    "/sessions",
    "/sessions?launch=new",
    "/templates",
    "/sessions/recurring",
    "/data",
    "/data?make=one",
    "/scheduler",
    "/scheduler?view=shares",
    "/resources",
    "/resources/groups",
    "/resources/groups?open=default",
    "/resources/presets",
    "/resources/engines",
    "/agents",
    "/policies",
    "/storage",
    "/users",
    "/users?make=one",
    "/users/keypairs",
    "/projects",
    "/domains",
    "/audit?action=project.create",
    "/site",
    "/providers",
    "/settings/profile",
    "/settings/two-factor",
    "/settings/tokens",
    "/settings/preferences",
)

_DIFFERENCE = """async pictures => {
  const [before, after] = await Promise.all(pictures.map(async picture => {
    const image = new Image()
    image.src = "data:image/png;base64," + picture
    await image.decode()
    const canvas = new OffscreenCanvas(image.width, image.height)
    const context = canvas.getContext("2d")
    context.drawImage(image, 0, 0)
    return context.getImageData(0, 0, image.width, image.height)
  }))
  if (before.width !== after.width || before.height !== after.height) return 1
  const columns = Math.ceil(before.width / 8), cells = columns * Math.ceil(before.height / 8)
  const sums = Array.from({ length: cells }, () => [0, 0, 0])
  for (let y = 0, at = 0; y < before.height; y++)
    for (let x = 0; x < before.width; x++, at += 4)
      for (const channel of [0, 1, 2])
        sums[(y >> 3) * columns + (x >> 3)][channel] += after.data[at + channel] - before.data[at + channel]
  return sums.filter(cell => cell.some(sum => Math.abs(sum) > 64 * 10)).length / cells
}"""


@pytest.fixture(scope="module")
def prepared() -> Iterator[Running]:
    """An installation of its own, with the same few objects each time."""
    with installation("screens") as running:
        for words in (
            ("user", "create", "mina@example.org", "Mina", "--link"),
            ("project", "create", "vision"),
            ("vfolder", "create", "corpus"),
            ("session", "create", "--cpu", "0.25", "--mem", "256m", "--name", "night-run", "--wait"),
        ):
            done = running.carrel(*words)
            assert done.returncode == 0, done.stderr
        yield running


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 820, 390])
def test_pages_look_as_before(open_desk: Opener, prepared: Running, theme: str, width: int) -> None:
    size = {"width": width, "height": _HEIGHTS[width]}
    tab = open_desk(stranger=True, color_scheme=theme, viewport=size, device_scale_factor=0.25)
    desk = Desk(tab.page, prepared)
    desk.go("/")
    desk.sign_in()
    expect(desk.page.get_by_text("night-run").first).to_be_visible()
    # What is drawn over time is not the same twice.
    desk.page.add_style_tag(content="canvas, .uplot { visibility: hidden }")
    differing = {}
    for path in PATHS:
        desk.turn_to(path)
        if path == "/sessions?launch=new":
            # Its folders have been loaded.
            expect(desk.page.get_by_role("button", name="Add folder")).to_be_visible()
        name = f"{_name(path)}-{width}-{theme}.png"
        part = _difference(desk, name)
        if part > MOST:
            differing[name] = f"{part:.1%}"
    assert not differing, f"look at them in {RESULTS / 'screens'}"


_HEIGHTS = {1440: 900, 820: 1180, 390: 844}
_NAMES = str.maketrans("/?=&", "----")


def _name(path: str) -> str:
    return path.strip("/").translate(_NAMES) or "start"


def _difference(desk: Desk, name: str) -> float:
    """The fraction of the picture that differs from the one before; what differs is written down to be looked at."""
    desk.page.evaluate("document.fonts.ready")
    expect(desk.page.locator(".mantine-Skeleton-root")).to_have_count(0)
    picture = desk.page.screenshot(animations="disabled")
    before = SCREENS / name
    part = _compared(desk.page, before.read_bytes(), picture) if before.exists() else 1.0
    if part > MOST:
        place = SCREENS if KEEP else RESULTS / "screens"
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(picture)
    return 0.0 if KEEP else part


def _compared(page: Page, *pictures: bytes) -> float:
    part: float = page.evaluate(_DIFFERENCE, [base64.b64encode(each).decode() for each in pictures])
    return part
