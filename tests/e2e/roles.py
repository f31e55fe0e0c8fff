"""One person of each role, for journeys that go by what somebody may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from e2e.desk import Desk
from e2e.running import Running

if TYPE_CHECKING:
    from e2e.conftest import Opener

PASSWORD = "correct-Horse-battery-9"


@dataclass(frozen=True)
class Roles:
    """project: its administrator is project_admin, and user is in it; domain_admin and domain_user are elsewhere."""

    carrel: Running
    domain: str = "physics"
    project: str = "vision"
    domain_admin: str = "dora@example.org"
    domain_user: str = "dirk@example.org"
    project_admin: str = "paul@example.org"
    user: str = "uma@example.org"

    def set_up(self) -> None:
        self._carrel("domain", "create", self.domain)
        self._carrel("project", "create", self.project)
        self.make(self.domain_admin, "--domain", self.domain, "--role", "domain_admin")
        self.make(self.domain_user, "--domain", self.domain)
        for person in (self.project_admin, self.user):
            self.make(person, "--project", self.project)
        self._carrel("project", "appoint", self.project, self.project_admin)

    def make(self, email: str, *options: str) -> str:
        """Somebody who signs in by PASSWORD; gives their e-mail."""
        self._carrel(
            "user",
            "create",
            email,
            email.split("@")[0].title(),
            "--password-stdin",
            "--keep-password",
            *options,
            input=PASSWORD + "\n",
        )
        return email

    def desk(self, open_desk: Opener, email: str, **options: object) -> Desk:
        """A browser in which that person is signed in."""
        desk = open_desk(stranger=True, **options)
        desk.go("/")
        desk.sign_in(PASSWORD, email=email)
        expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
        return desk

    def _carrel(self, *words: str, **options: object) -> None:
        done = self.carrel.carrel(*words, **options)  # type: ignore[arg-type]
        assert done.returncode == 0, done.stderr
