"""How PostgreSQL answers what the code asks."""

from collections.abc import Awaitable, Callable

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.database import Database


async def plans(database: Database, use: Callable[[AsyncSession], Awaitable[object]]) -> str:
    """The plans of all statements of this use, one after the other."""
    statements: list[tuple[str, object]] = []

    def note(_conn, _cursor, statement, parameters, *_rest) -> None:  # type: ignore[no-untyped-def]
        statements.append((statement, parameters))

    engine = database._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    async with database.transaction() as tx:
        await use(tx)
    event.remove(engine, "before_cursor_execute", note)
    assert statements
    lines = []
    async with database.transaction() as tx:
        connection = await tx.connection()
        for statement, parameters in statements:
            rows = await connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)  # type: ignore[arg-type]
            lines += [row[0] for row in rows]
    return "\n".join(lines)
