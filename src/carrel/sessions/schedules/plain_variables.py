"""Encryption of variables that earlier versions stored in plain text."""

from sqlalchemy import ColumnElement, cast, func, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, undefer

from carrel.db.encryption import SecretBox
from carrel.sessions import environment
from carrel.sessions.spec import SessionSpec
from carrel.tables.schedules import RunSchedule, ScheduledRun
from carrel.tables.sessions import Session

# `**` because roles have variables of their own.
_PLAIN = f'$.**.env.* ? (!(@ starts with "{environment.SEALED}"))'


async def seal_stored(tx: AsyncSession, seal: SecretBox) -> None:
    """Encrypt the variables of schedules, and of the sessions of their runs, that are in plain text. Twice: no-op."""
    schedules = select(RunSchedule).where(_is_plain(RunSchedule.spec))
    made = select(ScheduledRun.session_id)
    of_runs = Session.id.in_(made) | Session.array_id.in_(made)
    sessions = select(Session).where(of_runs, _is_plain(Session.spec)).options(undefer(Session.spec))
    for statement in (schedules, sessions):
        for row in (await tx.execute(statement.with_for_update())).scalars():
            row.spec = environment.sealed_spec(seal, SessionSpec.from_json(row.spec)).to_json()


def _is_plain(spec: InstrumentedAttribute[dict[str, object]]) -> ColumnElement[bool]:
    return func.jsonb_path_exists(spec, cast(_PLAIN, JSONPATH))
