"""Finding rows by a part of a text, in any case of its letters: docs/decisions/0007-search-by-part-of-a-name.md.

A table that is searched has an index on what is searched, and conditions name exactly the same expression:

    Index("ix_users_searched", text("trigrams((name || ' ') || email)"), postgresql_using="gin")
    select(User).where(has_part("users.name || ' ' || users.email", wanted))

The parentheses are those that PostgreSQL writes itself, by which the index is known again.
"""

from sqlalchemy import TextClause, text

_TRIGRAM = 3


def has_part(searched: str, part: str) -> TextClause:
    """A condition for `where`: the text has this part. searched: an SQL expression of ours, never input."""
    return text(part_condition(searched, part, parameter=":{}")).bindparams(**bound_part(part))


def part_condition(searched: str, part: str, *, parameter: str = "%({})s") -> str:
    """The same as SQL, with the parameters that `bound_part` gives. parameter: how they are written."""
    like = f"({searched}) ILIKE {parameter.format('part_pattern')}"
    if len(part) < _TRIGRAM:
        # No trigram says anything about it; but so short a part is in many rows, and a page of them soon full.
        return like
    # As a CASE, so that PostgreSQL does not take it for a second condition that halves what the first leaves: it
    # would expect next to nothing, and fetch every row that has a frequent part instead of the first of them.
    trigrams = f"trigrams({searched}) @> trigrams({parameter.format('part')})"
    return f"({trigrams} AND CASE WHEN {like} THEN true ELSE false END)"


def bound_part(part: str) -> dict[str, str]:
    """What the parameters of the condition are bound to."""
    bound = {"part_pattern": f"%{escaped(part)}%"}
    return bound if len(part) < _TRIGRAM else {**bound, "part": part}


def escaped(part: str) -> str:
    """The part for a LIKE pattern, in which it stands for nothing but itself."""
    return part.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
