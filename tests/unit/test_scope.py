"""A list shows nothing of others: every query that is made for somebody is narrowed to what they may see."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.permissions.actions import ACTIONS

SOURCE = Path(__file__).parents[2] / "src" / "carrel"
# Rows that belong to somebody, or to a project or domain.
TENANTS = {
    "User",
    "Domain",
    "Project",
    "Membership",
    "Session",
    "HistoryEntry",
    "Keypair",
    "Token",
    "SshKey",
    "Login",
    "Passkey",
    "AuditEntry",
    "Event",
}
# What narrows: the one helper, the decision itself, or "only one's own".
NARROWING = {"permitted", "sight", "sees_user", "require", "allows", "user_id"}


def queries_for_somebody(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions that take an actor and select rows of tenants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            if any(argument.arg == "actor" for argument in arguments) and selects(node):
                yield node


def selects(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "select"
        and any(name(argument) in TENANTS for argument in node.args)
        for node in ast.walk(function)
    )


def name(node: ast.AST) -> str:
    return (
        node.id if isinstance(node, ast.Name) else name(node.value) if isinstance(node, ast.Attribute) else ""
    )


def narrowed(function: ast.AST) -> bool:
    used = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(function)}
    return bool(used & NARROWING) or any(asks_permission(node) for node in ast.walk(function))


def asks_permission(node: ast.AST) -> bool:
    """Whether somebody else is asked for it: a call with the actor and the name of an action, and no audit row."""
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") != "record"
        and any(name(argument) == "actor" for argument in node.args)
        and any(isinstance(argument, ast.Constant) and argument.value in ACTIONS for argument in node.args)
    )


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_query_for_somebody_is_narrowed(file: Path):
    source = file.read_text()
    for function in queries_for_somebody(ast.parse(source)):
        explained = "# not narrowed: " in (ast.get_source_segment(source, function) or "")
        assert explained or narrowed(function), f"{function.name} selects rows of tenants for anybody"


def test_the_lint_sees_a_query_that_is_not():
    bad = ast.parse("async def page(tx, actor):\n    return await tx.execute(select(User.id, User.name))\n")
    [function] = queries_for_somebody(bad)
    assert not narrowed(function)
    good = ast.parse("def page(tx, actor):\n    return select(User).where(reaches(actor, 'user.read'))\n")
    [function] = queries_for_somebody(good)
    assert narrowed(function)
