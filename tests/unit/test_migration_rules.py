"""A migration must not break the former version, which still runs while the new one starts: docs/howto/upgrade.md.

A migration may add (expand). What removes or narrows something that the former version uses (contract) names in
CONTRACT the release since which no code uses it, which must be an earlier one than this.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import carrel

VERSIONS = Path(carrel.__file__).parent / "db" / "migrations" / "versions"
FIRST = "0062"
"""Earlier versions were upgraded while no process ran."""
_REMOVES = {"drop_table", "drop_column", "rename_table"}
_NARROWS = {"create_unique_constraint", "create_check_constraint", "create_foreign_key"}
_VOLATILE = re.compile(r"random\(|uuid\(|clock_timestamp\(|nextval\(", re.IGNORECASE)
_SQL = {
    r"\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|TRIGGER|TYPE)\b": "removes what the former version uses",
    r"\bRENAME\b": "renames what the former version uses",
    r"\bSET\s+NOT\s+NULL\b": "refuses what the former version writes",
    r"\bALTER\s+COLUMN\s+\S+\s+(SET\s+DATA\s+)?TYPE\b": "rewrites a table under a lock",
    r"\bADD\s+COLUMN\b(?=[^,;]*\bNOT\s+NULL\b)(?![^,;]*\bDEFAULT\b)": "refuses what the former version writes",
    r"\bADD\s+CONSTRAINT\b(?!.*\bNOT\s+VALID\b)": "refuses what the former version writes",
    r"\bTRUNCATE\b|\bLOCK\s+TABLE\b": "locks a table that the former version uses",
}


def dangers(source: str) -> list[str]:
    """What a migration does that the former version may not survive."""
    tree = ast.parse(source)
    [upgrade] = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "upgrade"]
    calls = [node for node in ast.walk(upgrade) if isinstance(node, ast.Call)]
    made = {_text(call.args[0]) for call in calls if _name(call) == "create_table"}
    constants = {
        target.id: _text(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    refused = [danger for call in calls for danger in _of_call(call, made)]
    statements = [_text(call.args[0]) or _named(call.args[0], constants) for call in calls if _is_sql(call)]
    for statement in statements:
        refused += [why for pattern, why in _SQL.items() if re.search(pattern, statement, re.I | re.S)]
    return refused


def _of_call(call: ast.Call, made: set[str]) -> Iterator[str]:
    name = _name(call)
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in _REMOVES:
        yield "removes what the former version uses"
    elif name == "alter_column":
        if "new_column_name" in words:
            yield "renames what the former version uses"
        if "type_" in words:
            yield "rewrites a table under a lock"
        if _is(words.get("nullable"), False):
            yield "refuses what the former version writes"
    elif name == "add_column" and isinstance(call.args[1], ast.Call):
        column = {keyword.arg: keyword.value for keyword in call.args[1].keywords}
        default = column.get("server_default")
        if _is(column.get("nullable"), False) and default is None:
            yield "refuses what the former version writes"
        if default is not None and _VOLATILE.search(ast.unparse(default)):
            yield "rewrites a table under a lock"
    elif name in _NARROWS and _text(call.args[1]) not in made:
        if not _is(words.get("postgresql_not_valid"), True):
            yield "refuses what the former version writes"
    elif name == "create_index" and _is(words.get("unique"), True) and _text(call.args[1]) not in made:
        yield "refuses what the former version writes"


def _name(call: ast.Call) -> str:
    function = call.func
    of_op = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return function.attr if of_op and function.value.id == "op" else ""


def _is_sql(call: ast.Call) -> bool:
    return _name(call) == "execute" or (isinstance(call.func, ast.Attribute) and call.func.attr == "text")


def _text(node: ast.expr) -> str:
    """A literal, with gaps where it is filled in; empty for everything else."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return ""


def _named(node: ast.expr, constants: dict[str, str]) -> str:
    return constants.get(node.id, "") if isinstance(node, ast.Name) else ""


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def contract_of(source: str) -> str | None:
    """The release that the migration names as the first one that does without."""
    for one in ast.parse(source).body:
        if isinstance(one, ast.Assign) and [ast.unparse(target) for target in one.targets] == ["CONTRACT"]:
            return _text(one.value)
    return None


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize(
    "file",
    [file for file in sorted(VERSIONS.glob("0*.py")) if file.name >= FIRST],
    ids=lambda file: file.stem,
)
def test_the_former_version_runs_on_after_a_migration(file: Path) -> None:
    source = file.read_text()
    if (contract := contract_of(source)) is None:
        assert dangers(source) == []
    else:
        assert _release(contract) < _release(carrel.__version__), "the former version may still use it"


@pytest.mark.parametrize(
    "statement",
    [
        'op.drop_column("a", "b")',
        'op.drop_table("a")',
        'op.rename_table("a", "b")',
        'op.alter_column("a", "b", new_column_name="c")',
        'op.alter_column("a", "b", type_=sa.Text())',
        'op.alter_column("a", "b", existing_type=sa.String(), nullable=False)',
        'op.add_column("a", sa.Column("b", sa.String(), nullable=False))',
        'op.add_column("a", sa.Column("b", sa.String(), server_default=sa.text("md5(random()::text)")))',
        'op.create_unique_constraint("b", "a", ["c"])',
        'op.create_index("b", "a", ["c"], unique=True)',
        'op.execute("ALTER TABLE a DROP COLUMN b")',
        'op.execute("ALTER TABLE a RENAME COLUMN b TO c")',
        'op.execute("ALTER TABLE a ALTER COLUMN b TYPE bigint")',
        'op.execute("ALTER TABLE a ALTER COLUMN b SET NOT NULL")',
        'op.execute("ALTER TABLE a ADD COLUMN b text NOT NULL")',
        'op.execute(f"DROP TRIGGER {1} ON a")',
        "op.execute(_STATEMENT)",
        'op.execute(sa.text("LOCK TABLE a"))',
    ],
)
def test_what_breaks_the_former_version_is_refused(statement: str) -> None:
    assert dangers(f'_STATEMENT = "TRUNCATE a"\ndef upgrade():\n    {statement}\n')


@pytest.mark.parametrize(
    "statement",
    [
        'op.create_table("a", sa.Column("b", sa.String(), nullable=False))',
        'op.add_column("a", sa.Column("b", sa.String(), nullable=True))',
        'op.add_column("a", sa.Column("b", sa.Boolean(), server_default=sa.text("false"), nullable=False))',
        'op.create_index("b", "a", ["c"])',
        'op.create_check_constraint("b", "a", "c > 0", postgresql_not_valid=True)',
        'op.drop_index("b")',
        "op.execute(\"ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''\")",
        'op.execute("UPDATE a SET b = 1")',
        'op.create_table("a"); op.create_unique_constraint("b", "a", ["c"])',
    ],
)
def test_what_adds_is_let_through(statement: str) -> None:
    assert dangers(f"def upgrade():\n    {statement}\n") == []
