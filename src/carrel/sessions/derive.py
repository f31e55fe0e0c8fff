"""Derive the state of a session from the states of its containers. Pure, and the only implementation of the rule.

    containers                                    session
    all PENDING                                   PENDING
    all SCHEDULED                                 SCHEDULED
    some not yet STARTING                         PREPARING
    some not yet RUNNING                          STARTING
    all RUNNING                                   RUNNING
    some EXITED or GONE that are still needed     TERMINATING, if its kind's rule ends it
    some EXITED or GONE that are not              as the others
    ending requested, some not GONE               TERMINATING
    ending requested, all GONE or ABANDONED       the requested final state

Containers are placed all or none, and the session runs only when all of them run. A restarted container takes its
session back to STARTING. A sub container is no longer needed once its command has succeeded, or once it has failed in
a session that continues then.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from carrel.tables.session_states import (
    ENDED,
    ContainerRole,
    ContainerState,
    OnFailure,
    Result,
    SessionKind,
    SessionState,
)

_S, _C = SessionState, ContainerState


@dataclass(frozen=True, slots=True)
class Member:
    """The inputs from one container. exit_code: of its main process, if known. has_command: as of its row."""

    role: ContainerRole
    state: ContainerState
    exit_code: int | None = None
    has_command: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """outcome: where a session that is TERMINATING ends; None before. result: of a batch session whose end is due to
    its containers.
    """

    state: SessionState
    outcome: SessionState | None = None
    result: Result | None = None


EndRule = Callable[[Collection[Member]], tuple[SessionState, Result | None]]
"""Final state and result after containers have ended that were needed."""


def _all_are_needed(ended: Collection[Member]) -> tuple[SessionState, Result | None]:
    """The rule for interactive sessions: the first lost container, main or sub, ends the session.

    Its containers run until a user terminates it, so an exit is a fault, and the remaining containers would hold
    slots for work that cannot continue.
    """
    return _S.ERROR, None


def _main_decides(ended: Collection[Member]) -> tuple[SessionState, Result]:
    """The rule for batch sessions: the exit code of the main container is the result; a container that is lost before
    is a failure.
    """
    succeeded = any(one.role == ContainerRole.MAIN and one.exit_code == 0 for one in ended)
    return _S.TERMINATED, Result.SUCCESS if succeeded else Result.FAILURE


END_RULES: Mapping[str, EndRule] = {
    SessionKind.INTERACTIVE: _all_are_needed,
    SessionKind.BATCH: _main_decides,
}
"""By session kind."""


def derive(
    kind: str,
    members: Collection[Member],
    outcome: SessionState | None,
    *,
    retries: int = 0,
    on_failure: OnFailure = OnFailure.END,
) -> Derived:
    """The state of a session with these containers, and its final state if the containers end it.

    members: at least one. outcome: the final state requested by a user or a limit; None: not requested. retries: how
    often it may still start again after a failure. on_failure: of a sub container.
    """
    states = {member.state for member in members}
    result = None
    if outcome is None and states & ENDED:
        ended = [one for one in members if one.state in ENDED]
        if needed := [one for one in ended if not _is_spared(one, on_failure)]:
            outcome, result = END_RULES[kind](needed)
            if retries and result == Result.FAILURE:
                outcome = _S.PENDING
        else:
            states -= ENDED
    if outcome is not None:
        return Derived(outcome if states <= {_C.GONE, _C.ABANDONED} else _S.TERMINATING, outcome, result)
    if _C.PENDING in states:
        return Derived(_S.PENDING)
    if states == {_C.SCHEDULED}:
        return Derived(_S.SCHEDULED)
    if states & {_C.SCHEDULED, _C.PREPARING}:
        return Derived(_S.PREPARING)
    return Derived(_S.STARTING if _C.STARTING in states else _S.RUNNING)


def _is_spared(ended: Member, on_failure: OnFailure) -> bool:
    """True if its session goes on without it."""
    if ended.role == ContainerRole.MAIN:
        return False
    return on_failure == OnFailure.CONTINUE or (ended.has_command and ended.exit_code == 0)
