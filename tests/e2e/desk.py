"""What a person does on the page, in the words of the tests."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from e2e.running import EMAIL, Running

# A session starts within a second or two; a busy machine of two cores is given ten times that.
STARTS_MS = 30_000
_OPENS = re.compile("[?&](make|form|open|act|edit|launch|session)=")


@dataclass(frozen=True)
class Desk:
    """One tab of a person's browser."""

    page: Page
    carrel: Running

    # Getting in and about

    def go(self, path: str) -> None:
        self.page.goto(self.carrel.url + path)

    def turn_to(self, path: str) -> None:
        """The page at that path as a link within the page opens it, without loading all of it again."""
        page = self.page
        # What was shown before has headings, too: the router says when it shows this one.
        page.evaluate(
            "path => { window.turned = null; __TSR_ROUTER__.navigate({ href: path }).then(() => { turned = path }) }",
            path,
        )
        page.wait_for_function("path => window.turned === path", arg=path)
        opens = bool(_OPENS.search(path))
        expect(page.get_by_role("dialog")).to_have_count(int(opens))
        place = page.get_by_role("dialog") if opens else page
        expect(place.get_by_role("heading").first).to_be_attached()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)

    def sign_in(self, password: str | None = None, *, email: str = EMAIL) -> None:
        """Fill in the form that is shown and send it."""
        self.page.get_by_label("E-mail").fill(email)
        self.page.get_by_label("Password", exact=True).fill(password or self.carrel.password)
        self.page.get_by_role("button", name="Sign in", exact=True).click()

    # Sessions

    def launcher(self) -> Locator:
        """The drawer that asks for a session, opened by its button."""
        # An empty list offers it too.
        self.page.get_by_role("button", name="Start a session").first.click()
        drawer = self.page.get_by_role("dialog", name="Start a session")
        expect(drawer.get_by_role("button", name="Start", exact=True)).to_be_visible()
        return drawer

    def filled_launcher(self, **fields: str) -> Locator:
        """The same drawer by its own address. fields: what is typed into it, by label; "_" stands for a space."""
        self.go("/sessions?launch=new")
        drawer = self.page.get_by_role("dialog", name="Start a session")
        for label, words in fields.items():
            drawer.get_by_label(label.replace("_", " "), exact=True).fill(words)
        return drawer

    def row(self, name: str) -> Locator:
        return self.page.get_by_role("row").filter(has=self.page.get_by_text(name, exact=True))

    def expect_state(self, name: str, state: str) -> None:
        """The row says so, in good time and without a reload."""
        expect(self.row(name)).to_contain_text(state, timeout=STARTS_MS)

    def detail(self, name: str, tab: str | None = None) -> Locator:
        """The drawer about one session, opened by a click on its row."""
        self.row(name).get_by_text(name, exact=True).click()
        drawer = self.page.get_by_role("dialog", name=name)
        if tab:
            drawer.get_by_role("tab", name=tab).click()
        return drawer

    # The terminal

    def terminal(self, session: str) -> "Shell":
        """A shell that shows its prompt."""
        self.go(f"/terminal/{session}")
        shell = Shell(self.page)
        shell.expect_open()
        return shell


@dataclass(frozen=True)
class Shell:
    """The terminal in the page."""

    page: Page

    @property
    def screen(self) -> Locator:
        return self.page.locator("[data-terminal-state]")

    @property
    def rows(self) -> Locator:
        return self.page.locator(".xterm-rows")

    def expect_open(self) -> None:
        expect(self.screen).to_have_attribute("data-terminal-state", "open", timeout=STARTS_MS)
        expect(self.rows).to_contain_text("$", timeout=STARTS_MS)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def enter(self, line: str) -> None:
        self.type(line)
        self.page.keyboard.press("Enter")

    def expect(self, text: str, *, timeout: float = 15_000) -> None:
        """The text is on the screen. Commands are written so that their own echo does not hold it."""
        expect(self.rows).to_contain_text(text, timeout=timeout)

    def answer(self, line: str, pattern: str) -> re.Match[str]:
        """Enter a line, and find in what is on the screen then."""
        self.enter(line)
        return self.find(pattern)

    def find(self, pattern: str) -> re.Match[str]:
        """The first match on the screen, once there is one."""
        expect(self.rows).to_contain_text(re.compile(pattern))
        found = re.search(pattern, self.text())
        assert found
        return found

    def text(self) -> str:
        """The screen's rows one after another, without line breaks: a wrapped line is whole again."""
        return self.rows.inner_text().replace("\n", "").replace("\u00a0", " ")
