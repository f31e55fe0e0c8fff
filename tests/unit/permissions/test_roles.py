"""What roles are worth; and rules about people that statements of text use are those of the lists."""

import pytest

from carrel.folders import access
from carrel.nodes.groups import service as groups
from carrel.permissions.actions import Role
from carrel.permissions.roles import (
    is_administrator,
    is_domain_admin,
    is_of_projects,
    is_superadmin,
    outranks,
)


@pytest.mark.parametrize(
    ("role", "superadmin", "domain_admin", "administrator"),
    [
        (Role.USER, False, False, False),
        (Role.DOMAIN_ADMIN, False, True, True),
        (Role.SUPERADMIN, True, False, True),
    ],
)
def test_each_role_is_worth_what_it_says(
    role: Role, superadmin: bool, domain_admin: bool, administrator: bool
):
    # Rows have them as plain text.
    for value in (role, str(role)):
        assert (is_superadmin(value), is_domain_admin(value)) == (superadmin, domain_admin)
        assert (is_administrator(value), is_of_projects(value)) == (administrator, False)
    assert is_of_projects(Role.PROJECT_ADMIN)
    assert not is_superadmin(None)


def test_nobody_outranks_their_own_rank():
    assert [outranks(one, other) for one in ("user", "superadmin") for other in ("user", "superadmin")] == [
        False,
        False,
        True,
        False,
    ]
    assert outranks("superadmin", "domain_admin")
    assert outranks("domain_admin", "user")


def test_rules_as_text_name_the_tables_around_them_and_bind_nothing_else():
    group, share = groups.as_text(), access.given_as_text()
    assert {"s.domain_id", "s.project_id", "s.owner_id", "g.id", "d.resource_groups"} <= {
        *group.replace("(", " ").replace(")", " ").split()
    }
    assert ":" not in group
    assert "%" not in group
    assert share.count("%") == 2
    assert "%(user)s" in share
    assert "%(projects)s" in share
