"""The one decision, for every action, role and place."""

from itertools import product

import pytest

from carrel.core.errors import Forbidden, NotFound
from carrel.core.ids import DomainId, ProjectId, UserId
from carrel.permissions.actions import ACTIONS, Role, Scope
from carrel.permissions.decide import Actor, Target, allows, require

ME, OTHER = UserId("me"), UserId("other")
HERE, THERE = ProjectId("here"), ProjectId("there")
HOME, ABROAD = DomainId("home"), DomainId("abroad")
# From near to far.
PLACES = {
    Scope.OWN: Target(ME, THERE, ABROAD),
    Scope.PROJECT: Target(OTHER, HERE, HOME),
    Scope.DOMAIN: Target(OTHER, THERE, HOME),
    Scope.ALL: Target(OTHER, THERE, ABROAD),
}


def actor(role: Role, *, administers: bool = False) -> Actor:
    return Actor(
        ME,
        "me@example.org",
        role,
        HOME,
        frozenset({HERE}),
        frozenset({HERE} if administers else ()),
        "cookie",
    )


@pytest.mark.parametrize(("name", "role"), list(product(ACTIONS, Role)))
def test_a_right_reaches_as_far_as_the_table_says(name: str, role: Role):
    scope = ACTIONS[name].scope(role)
    for needed, target in PLACES.items():
        assert allows(actor(role), name, target) == (scope >= needed), (name, role, needed)


@pytest.mark.parametrize("name", ACTIONS)
def test_administering_a_project_counts_in_that_project_alone(name: str):
    plain, admin = actor(Role.USER), actor(Role.USER, administers=True)
    inside, outside = Target(OTHER, HERE, HOME), Target(OTHER, THERE, HOME)
    expected = ACTIONS[name].scope(Role.PROJECT_ADMIN) >= Scope.PROJECT or allows(plain, name, inside)
    assert allows(admin, name, inside) == expected
    assert allows(admin, name, outside) == allows(plain, name, outside)


@pytest.mark.parametrize("name", ACTIONS)
def test_nobody_gains_by_being_less(name: str):
    scopes = [ACTIONS[name].scope(role) for role in (Role.USER, Role.DOMAIN_ADMIN, Role.SUPERADMIN)]
    assert scopes == sorted(scopes)


def test_what_one_may_not_know_of_is_missing_and_not_forbidden():
    missing = NotFound("session.not_found", "There is no session x.")
    options = {"read": "session.read", "missing": missing}
    require(actor(Role.USER), "session.remove", PLACES[Scope.OWN], **options)
    with pytest.raises(NotFound) as unknown:
        require(actor(Role.USER), "session.remove", PLACES[Scope.PROJECT], **options)
    assert unknown.value is missing
    with pytest.raises(Forbidden) as forbidden:
        require(actor(Role.DOMAIN_ADMIN), "session.exec", PLACES[Scope.DOMAIN], **options)
    assert forbidden.value.details == {"action": "session.exec"}


def test_only_these_are_for_everybody():
    assert {name for name, action in ACTIONS.items() if action.public} == {
        "auth.login",
        "auth.recover",
        "auth.sign_up",
        "server.greet",
        "server.health",
        "vfolder.link",
    }


def test_every_action_says_in_a_sentence_what_it_is():
    for name, action in ACTIONS.items():
        assert action.name == name
        assert action.sentence.endswith(".")
