"""Pictures of the pages in both themes and three widths, compared with those in `screens`, which were looked at.

A quarter of the size, so that a name or a figure that differs does not count, but a card, a column, a colour or a theme
does. After a change that is meant: `CARREL_KEEP_SCREENS=1` replaces the pictures; look at each one in the diff.
"""

import base64
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from carrel.server.page import PAGES
from e2e.conftest import RESULTS, Opener
from e2e.desk import Desk, Shell
from e2e.people import administrator
from e2e.running import EMAIL, Running, installation

SCREENS = Path(__file__).parent / "screens"
KEEP = bool(os.environ.get("CARREL_KEEP_SCREENS"))
SCALE = float(os.environ.get("CARREL_SCREENS_SCALE", "0.25"))
MOST = 0.02
"""The fraction of a picture's cells of 8 by 8 pixels that may differ."""
_TRIES = 50
_PAUSE_MS = 200
"""Pictures of one page, so far apart, until one is as before."""

SIGNED_OUT = (
    "/signin",
    "/forgot-password",
    "/reset-password",
    "/reset-password#token={link}",
    "/sign-up",
    "/verify-email",
)

PATHS = (
    "/",
    "/dashboard",
    "/statistics?month={month}",
    "/settings/notifications",
    "/sessions",
    "/sessions?launch=new",
    *(
        f"/sessions?session=night-run&tab={tab}"
        for tab in (
            "overview",
            "history",
            "logs",
            "apps",
            "sharing",
            "usage",
            "dependencies",
            "environment",
        )
    ),
    "/shared",
    "/terminal/night-run",
    "/templates",
    "/import?url=https://github.com/acme/work/blob/main/first.ipynb",
    "/templates/apps",
    "/my-environments",
    "/sessions/recurring",
    "/data",
    "/data?make=one",
    "/data/{folder}",
    "/data/{folder}?file=README.md",
    "/scheduler",
    "/scheduler?view=shares",
    "/resources",
    "/resources/devices",
    "/resources/devices?view=fragmentation",
    "/resources/groups",
    "/resources/groups?open=default",
    "/resources/presets",
    "/resources/engines",
    "/agents",
    "/policies",
    "/storage",
    "/storage/folders",
    "/storage/quotas",
    "/users",
    "/users?make=one",
    "/users/keypairs",
    "/projects",
    "/domains",
    "/audit?action=project.create",
    "/environments/images",
    "/environments/registries",
    "/site",
    "/maintenance",
    "/maintenance/consistency",
    "/maintenance/images",
    "/maintenance/scans",
    "/maintenance/information",
    "/providers",
    "/settings/profile",
    "/settings/password",
    "/settings/two-factor",
    "/settings/passkeys",
    "/settings/keypairs",
    "/settings/tokens",
    "/settings/ssh-keys",
    "/settings/dotfiles",
    "/settings/sign-ins",
    "/settings/preferences",
    "/settings/activity?kind=project",
    "/help",
    "/help/howto/limits",
    "/nonesuch",
)

FORWARDING = {"/index.html", "/settings", "/keypairs"}
"""Addresses that lead to other pages, which have their pictures."""

LOADED = {
    "/signin": "Sign in with a passkey",
    "/forgot-password": "This site cannot send e-mail.",
    "/reset-password": "Ask an administrator for another.",
    "/sign-up": "Sign-up is disabled on this site.",
    "/sessions?launch=new": "Add folder",
    "/sessions?session=night-run&tab=logs": "epoch 3",
    "/data/{folder}": "README.md",
    "/data/{folder}?file=README.md": "One row a day.",
}
"""A text that is shown once the page has loaded all of it."""

# What is drawn over time is not the same twice, there is more of it after some minutes, documents change, and so
# does the free space of the machine.
_CONSTANT = """
    canvas, .uplot, [aria-label="Steps of the start"] [aria-hidden], .xterm-cursor, [data-level],
    [aria-label="Badge"] code, [data-state=adequate], [data-state=caution], [data-state=insufficient] {
        visibility: hidden }
    figure > ul { display: none !important }
    [aria-label="Idle sessions"] > * > :nth-child(n + 2),
    [aria-label="Installation"] > * > :nth-child(n + 3), [aria-label*="sage over time"] > * > :nth-child(n + 3),
    #help article > :nth-child(n + 4), #help article tr:nth-child(n + 4), #maintenance dd,
    #maintenance td:not(:first-child), [aria-label="Packages and licences"] tbody { display: none }
"""

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


@dataclass(frozen=True)
class Prepared:
    """ids: what the parts of addresses in braces stand for. signed_in: the cookies of the administrator's browser,
    which signs in once, so that all lists of sign-ins are the same.
    """

    running: Running
    ids: dict[str, str]
    signed_in: list[dict[str, str]]


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """An installation of its own, with the same few objects each time."""
    script = "for n in 1 2 3; do echo epoch $n: loss 0.$n; done"
    with installation("screens") as running:

        def carrel(*words: str, **options: object) -> str:
            done = running.carrel(*words, **options)  # type: ignore[arg-type]
            assert done.returncode == 0, done.stderr
            return done.stdout

        invited = carrel("user", "create", "mina@example.org", "Mina", "--link")
        carrel("project", "create", "vision")
        carrel("vfolder", "create", "corpus")
        small = ("--cpu", "0.25", "--mem", "256m")
        carrel(
            *("session", "create", *small, "--name", "night-run", "--bootstrap", "-", "--wait"), input=script
        )
        with administrator(running) as api:
            [folder] = api.get("/vfolders", params={"q": "corpus"}).json()["items"]
            for path, content in _FILES.items():
                put = api.put(
                    f"/vfolders/{folder['id']}/content", params={"path": path}, content=content.encode()
                )
                assert put.is_success, put.text
        link = invited.partition("#token=")[2].split()[0]
        # A month whose statistics no session of this run is in.
        month = f"{datetime.now(UTC).replace(day=1) - timedelta(days=1):%Y-%m}"
        ids = {"folder": folder["id"], "link": link, "month": month}
        yield Prepared(running, ids, _cookies(running))


_FILES = {
    "README.md": "# Corpus\n\nOne row a day.\n\n| day | value |\n|---|---|\n| 1 | 7 |\n",
    "readings.csv": "day,value\n1,7\n2,14\n",
    "runs/first.json": "{}\n",
}


def _cookies(running: Running) -> list[dict[str, str]]:
    with httpx2.Client(base_url=f"{running.url}/api/v1") as client:
        answer = client.post("/auth/login", json={"email": EMAIL, "password": running.password})
        assert answer.is_success, answer.text
        return [{"name": name, "value": value, "url": running.url} for name, value in client.cookies.items()]


def test_each_address_of_the_page_has_its_pictures() -> None:
    shown = [re.split("[?#]", path)[0] for path in (*SIGNED_OUT, *PATHS)]
    patterns = {
        page: re.escape(page).replace(r"\*\*", ".+").replace(r"\$", "[^/]+") for page in {*PAGES} - FORWARDING
    }
    missing = [
        page for page, pattern in patterns.items() if not any(re.fullmatch(pattern, path) for path in shown)
    ]
    assert not missing, "add them to PATHS"


@pytest.mark.parametrize("width", [1440, 820, 390])
def test_pages_look_as_before(open_desk: Opener, prepared: Prepared, width: int) -> None:
    size = {"width": width, "height": _HEIGHTS[width]}
    themes = ["light", "dark"]
    tab = open_desk(stranger=True, color_scheme=themes[0], viewport=size, device_scale_factor=SCALE)
    desk = Desk(tab.page, prepared.running)
    differing: dict[str, str] = {}

    def look(path: str) -> None:
        """Both themes, each of which every second page is opened in."""
        desk.turn_to(path.format(**prepared.ids))
        _expect_loaded(desk, path)
        for theme in themes:
            desk.page.emulate_media(color_scheme=theme)
            expect(desk.page.locator(f"html[data-mantine-color-scheme={theme}]")).to_be_attached()
            name = f"{_name(path)}-{width}-{theme}.png"
            part = _difference(desk, name)
            if part > MOST:
                differing[name] = f"{part:.1%}"
        themes.reverse()

    def load(path: str, shown: Locator) -> None:
        desk.go(path)
        expect(shown.first).to_be_visible()
        desk.page.add_style_tag(content=_CONSTANT)

    load("/signin", desk.page.get_by_label("E-mail"))
    for path in SIGNED_OUT:
        look(path)
    desk.page.context.add_cookies(prepared.signed_in)  # type: ignore[arg-type]
    load("/", desk.page.get_by_text("night-run"))
    for path in PATHS:
        # On a phone, a preview is a dialog.
        if width > 390 or "file=" not in path:
            look(path)
    assert not differing, f"look at them in {RESULTS / 'screens'}"


_HEIGHTS = {1440: 900, 820: 1180, 390: 844}
_NAMES = str.maketrans("/?=&#", "-----", "{}")


def _name(path: str) -> str:
    return path.strip("/").translate(_NAMES) or "start"


def _expect_loaded(desk: Desk, path: str) -> None:
    if text := LOADED.get(path):
        expect(desk.page.get_by_text(text).first).to_be_visible()
    if path.endswith("tab=usage"):
        expect(desk.page.locator("canvas").first).to_be_attached()
        expect(desk.page.get_by_text("not measured")).to_have_count(0)
    if path.startswith("/terminal"):
        Shell(desk.page).expect_open()


def _difference(desk: Desk, name: str) -> float:
    """The fraction of the picture that differs from the one before; what differs is written down to be looked at."""
    desk.page.evaluate("document.fonts.ready")
    expect(desk.page.locator(".mantine-Skeleton-root")).to_have_count(0)
    before = SCREENS / name
    for _ in range(_TRIES):
        picture = desk.page.screenshot(animations="disabled")
        part = _compared(desk.page, before.read_bytes(), picture) if before.exists() else 1.0
        if part <= MOST or KEEP:
            break
        # What the page shows comes from several answers of the API, some of them late.
        desk.page.wait_for_timeout(_PAUSE_MS)
    if part > MOST:
        place = SCREENS if KEEP else RESULTS / "screens"
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(picture)
    return 0.0 if KEEP else part


def _compared(page: Page, *pictures: bytes) -> float:
    part: float = page.evaluate(_DIFFERENCE, [base64.b64encode(each).decode() for each in pictures])
    return part
