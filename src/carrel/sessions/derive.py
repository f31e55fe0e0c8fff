"""The state of a session, from the states of its containers. Pure, and the only place that knows the rule.

    containers                                    session
    all PENDING                                   PENDING
    all SCHEDULED                                 SCHEDULED
    some not yet STARTING                         PREPARING
    some not yet RUNNING                          STARTING
    all RUNNING                                   RUNNING
    some EXITED or GONE                           TERMINATING, where the rule of its kind ends it
    it is to end, and some are not GONE           TERMINATING
    it is to end, and all are GONE                where it is to end

Containers are placed all or none, and nobody runs before all are up. One that is started again takes its session back
to STARTING.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from carrel.tables.session_states import ContainerRole, ContainerState, SessionState

_S, _C = SessionState, ContainerState


@dataclass(frozen=True, slots=True)
class Member:
    """What counts of one container of a session. exit_code: of its main process, when it is known."""

    role: ContainerRole
    state: ContainerState
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """outcome: where a session that is TERMINATING ends; None before."""

    state: SessionState
    outcome: SessionState | None = None


EndRule = Callable[[Collection[Member]], SessionState | None]
"""What it means that some containers have ended: where the session ends, or None when it goes on without them."""


def _all_are_needed(members: Collection[Member]) -> SessionState | None:
    """For an interactive session: it ends with the first container that is lost, main or sub.

    Its containers run until somebody ends it, so an end of one is a fault; and what is left of a session of several
    would hold slots for work that cannot go on.
    """
    return _S.ERROR


END_RULES: Mapping[str, EndRule] = {"interactive": _all_are_needed}
"""By the kind of the session. A kind whose work ends by itself says here what the exit code of its main one means."""


def derive(kind: str, members: Collection[Member], outcome: SessionState | None) -> Derived:
    """The state of a session with these containers, and where it ends when they, and nobody else, end it.

    members: at least one. outcome: where it ends because somebody, or some limit, wants it; None: nobody does.
    """
    states = {member.state for member in members}
    ended = states & {_C.EXITED, _C.GONE}
    if outcome is None and ended:
        outcome = END_RULES[kind](members)
        states = states if outcome else states - ended
    if outcome is not None:
        return Derived(outcome if states == {_C.GONE} else _S.TERMINATING, outcome)
    if _C.PENDING in states:
        return Derived(_S.PENDING)
    if states == {_C.SCHEDULED}:
        return Derived(_S.SCHEDULED)
    if states & {_C.SCHEDULED, _C.PREPARING}:
        return Derived(_S.PREPARING)
    return Derived(_S.STARTING if _C.STARTING in states else _S.RUNNING)
