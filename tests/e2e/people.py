"""People of the installation under test, made through the API."""

import itertools
from dataclasses import dataclass

import httpx2

from e2e.running import Running

PASSWORD = "violet-harbour-Tuesday-9"
_serial = itertools.count(1)


@dataclass(frozen=True)
class Person:
    """Somebody who can sign in. id: of the user."""

    id: str
    email: str
    password: str


def fresh(name: str) -> str:
    """A name that nothing has had yet, also when a journey is gone through once more."""
    return f"{name}{next(_serial)}"


def administrator(carrel: Running) -> httpx2.Client:
    """The API, as the first administrator."""
    keys = carrel.environment
    return httpx2.Client(
        base_url=f"{carrel.url}/api/v1",
        auth=(keys["CARREL_ACCESS_KEY"], keys["CARREL_SECRET_KEY"]),
        timeout=30,
    )


def make_person(carrel: Running, *, must_change_password: bool = False) -> Person:
    """A new user in the default project."""
    email = f"{fresh('person')}@example.org"
    body = {
        "email": email,
        "name": "Ada Lovelace",
        "password": PASSWORD,
        "must_change_password": must_change_password,
        "projects": ["default"],
    }
    with administrator(carrel) as api:
        answer = api.post("/users", json=body)
        assert answer.status_code == 201, answer.text
        user = answer.json()
    return Person(user.get("id") or user["user"]["id"], email, PASSWORD)


def set_site(carrel: Running, **settings: object) -> None:
    """Change settings of the installation."""
    with administrator(carrel) as api:
        answer = api.patch("/site", json=settings)
        assert answer.status_code == 200, answer.text


def status_with(carrel: Running, token: str, path: str, *, method: str = "GET") -> int:
    """What the API answers to a bearer token."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.request(method, f"{carrel.url}/api/v1{path}", headers=headers, timeout=30).status_code
