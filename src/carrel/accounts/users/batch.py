"""Create many users: each row is checked and created separately and reports its own result."""

from collections.abc import Sequence

from pydantic import ValidationError

from carrel.accounts.users.drafts import Draft, check, draft_context, password_problems
from carrel.accounts.users.schemas import MAX_BATCH, UserBatch, UserCreate, UserMade, UserRow, UsersMade
from carrel.accounts.users.service import UserServices, make
from carrel.core.errors import CarrelError, Invalid
from carrel.http.validation import refusal
from carrel.permissions.decide import Actor
from carrel.signin.logins.schemas import RecoveryLink
from carrel.site import service as site
from carrel.tenancy.schemas import Trouble, UserRef

_WAYS = {"password", "generate_password", "link"}
_MADE_TWICE = Trouble(
    code="user.email_twice",
    detail="Another row has the same e-mail.",
    hint="E-mail addresses are unique and case-insensitive.",
    field="email",
)


async def create(services: UserServices, actor: Actor, batch: UserBatch, *, dry_run: bool) -> UsersMade:
    """Create the valid users and report the errors of the others. dry_run: only check.

    Raises: Invalid when there are too many.
    """
    if len(batch.rows) > MAX_BATCH:
        raise Invalid(
            "user.too_many",
            f"{len(batch.rows)} users at once are too many; the limit is {MAX_BATCH}.",
            hint="Send them in several requests.",
            field="rows",
            details={"most": MAX_BATCH},
        )
    # 1. check each row
    answers = [
        UserMade(row=at, email=(row.email or "")[:254], status="failed") for at, row in enumerate(batch.rows)
    ]
    parsed: dict[int, UserCreate] = {}
    for answer, row in zip(answers, batch.rows, strict=True):
        read = _read(row, batch.defaults)
        if isinstance(read, UserCreate):
            parsed[answer.row] = read
        else:
            answer.problems = read
    # 2. check for duplicates
    _find_twins(answers, parsed)
    async with services.database.transaction() as tx:
        around = await draft_context(tx, actor, parsed.values())
        settings = await site.settings(tx)
    drafts: dict[int, Draft] = {}
    for at, each in parsed.items():
        draft, problems = check(actor, each, around)
        problems += await password_problems(settings, each)
        answers[at].problems += [trouble(problem) for problem in problems]
        if draft and not answers[at].problems:
            drafts[at] = draft
    # 3. create them, each in its own transaction
    for at, draft in drafts.items():
        answers[at] = (
            answers[at].model_copy(update={"status": "valid"})
            if dry_run
            else await _made(services, actor, answers[at], draft)
        )
    failed = sum(answer.status == "failed" for answer in answers)
    return UsersMade(items=answers, done=len(answers) - failed, failed=failed)


def trouble(error: CarrelError) -> Trouble:
    """An error of ours, said of one of many."""
    return Trouble(code=error.code, detail=error.message, hint=error.hint, field=error.field)


def _read(row: UserRow, defaults: UserRow) -> UserCreate | list[Trouble]:
    given = row.given()
    filled = {**defaults.given(), **given}
    if given.keys() & _WAYS:
        # Who has a password of their own needs no generated one and no link, whatever holds for the others.
        filled = {name: value for name, value in filled.items() if name not in _WAYS - given.keys()}
    try:
        return UserCreate.model_validate(filled)
    except ValidationError as error:
        return [_trouble_of(each) for each in error.errors()]


def _trouble_of(error: object) -> Trouble:
    assert isinstance(error, dict)
    field = str(error["loc"][0])
    detail = f"The {field} is missing." if error["type"] == "missing" else refusal(error, field)
    return Trouble(code="invalid.request", detail=detail, field=field)


def _find_twins(answers: Sequence[UserMade], drafts: dict[int, UserCreate]) -> None:
    first: set[str] = set()
    for at, each in drafts.items():
        email = each.email.lower()
        if email in first:
            answers[at].problems = [_MADE_TWICE]
        first.add(email)


async def _made(services: UserServices, actor: Actor, answer: UserMade, draft: Draft) -> UserMade:
    try:
        made = await make(services, actor, draft)
    except CarrelError as error:
        return answer.model_copy(update={"problems": [trouble(error)]})
    return answer.model_copy(
        update={
            "status": "created",
            "user": UserRef(id=made.id, email=made.email),
            "password": made.password,
            "link": RecoveryLink.model_validate(made.link, from_attributes=True) if made.link else None,
        }
    )
