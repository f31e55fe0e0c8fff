"""Derive the state of a session from the states of its containers. Pure, and the only implementation of the rule.

    containers                                    session
    all PENDING                                   PENDING
    all SCHEDULED                                 SCHEDULED
    some not yet STARTING                         PREPARING
    some not yet RUNNING                          STARTING
    all RUNNING                                   RUNNING
    some EXITED or GONE                           TERMINATING, if its kind's rule ends it; RUNNING if not
    ending requested, some not GONE               TERMINATING
    ending requested, all GONE or ABANDONED       the requested final state

Containers are placed all or none, and the session runs only when all of them run. A restarted container takes its
session back to STARTING.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from carrel.tables.session_states import ContainerRole, ContainerState, Result, SessionKind, SessionState

_S, _C = SessionState, ContainerState
_ENDED = frozenset({_C.EXITED, _C.ABANDONED, _C.GONE})


@dataclass(frozen=True, slots=True)
class Member:
    """The inputs from one container. exit_code: of its main process, if known."""

    role: ContainerRole
    state: ContainerState
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """outcome: where a session that is TERMINATING ends; None before. result: of a batch session whose end is due to
    its containers.
    """

    state: SessionState
    outcome: SessionState | None = None
    result: Result | None = None


EndRule = Callable[[Collection[Member]], tuple[SessionState, Result | None] | None]
"""Final state and result after some containers have ended, or None if the session continues without them."""


def _all_are_needed(members: Collection[Member]) -> tuple[SessionState, Result | None]:
    """The rule for interactive sessions: the first lost container, main or sub, ends the session.

    Its containers run until a user terminates it, so an exit is a fault, and the remaining containers would hold
    slots for work that cannot continue.
    """
    return _S.ERROR, None


def _main_decides(members: Collection[Member]) -> tuple[SessionState, Result] | None:
    """The rule for batch sessions: the exit code of the main container is the result; a container that fails before
    is a failure.
    """
    ended = [member for member in members if member.state in _ENDED]
    if any(member.exit_code != 0 for member in ended):
        return _S.TERMINATED, Result.FAILURE
    return (_S.TERMINATED, Result.SUCCESS) if any(one.role == ContainerRole.MAIN for one in ended) else None


END_RULES: Mapping[str, EndRule] = {
    SessionKind.INTERACTIVE: _all_are_needed,
    SessionKind.BATCH: _main_decides,
}
"""By session kind."""


def derive(
    kind: str, members: Collection[Member], outcome: SessionState | None, *, retries: int = 0
) -> Derived:
    """The state of a session with these containers, and its final state if the containers end it.

    members: at least one. outcome: the final state requested by a user or a limit; None: not requested. retries: how
    often it may still start again after a failure.
    """
    states = {member.state for member in members}
    result = None
    if outcome is None and states & _ENDED:
        if end := END_RULES[kind](members):
            outcome, result = end
            if retries and result == Result.FAILURE:
                outcome = _S.PENDING
        else:
            states -= _ENDED
    if outcome is not None:
        return Derived(outcome if states <= {_C.GONE, _C.ABANDONED} else _S.TERMINATING, outcome, result)
    if _C.PENDING in states:
        return Derived(_S.PENDING)
    if states == {_C.SCHEDULED}:
        return Derived(_S.SCHEDULED)
    if states & {_C.SCHEDULED, _C.PREPARING}:
        return Derived(_S.PREPARING)
    return Derived(_S.STARTING if _C.STARTING in states else _S.RUNNING)
