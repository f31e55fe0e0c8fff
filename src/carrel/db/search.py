"""Case-insensitive substring search: docs/decisions/0007-substring-search-without-pg-trgm.md.

A searchable table has an index on an expression, and conditions use exactly the same expression:

    Index("ix_users_searched", text("trigrams((name || ' ') || email)"), postgresql_using="gin")
    select(User).where(has_part("users.name || ' ' || users.email", part))

The parentheses are those that PostgreSQL writes, so that migrations recognise the index.
"""

from sqlalchemy import TextClause, text

_TRIGRAM = 3


def has_part(searched: str, part: str) -> TextClause:
    """A condition for `where`: the expression contains the part. searched: trusted SQL, never input."""
    return text(part_condition(searched, part, parameter=":{}")).bindparams(**bound_part(part))


def part_condition(searched: str, part: str, *, parameter: str = "%({})s") -> str:
    """The condition as SQL, with the parameters of `bound_part`. parameter: their placeholder syntax."""
    like = like_condition(searched, parameter=parameter)
    if len(part) < _TRIGRAM:
        # Too short for a trigram, but so short a part is in many rows, and a page fills quickly.
        return like
    # CASE hides the condition from PostgreSQL's selectivity estimate: it would count it as a second filter, expect
    # almost no rows, and fetch all rows with a frequent part instead of the first ones.
    trigrams = f"trigrams({searched}) @> trigrams({parameter.format('part')})"
    return f"({trigrams} AND CASE WHEN {like} THEN true ELSE false END)"


def like_condition(searched: str, *, parameter: str = "%({})s") -> str:
    """The same without the index, for rows that are few already."""
    return f"({searched}) ILIKE {parameter.format('part_pattern')}"


def bound_part(part: str) -> dict[str, str]:
    """Values of the condition's parameters."""
    bound = {"part_pattern": f"%{escaped(part)}%"}
    return bound if len(part) < _TRIGRAM else {**bound, "part": part}


def escaped(part: str) -> str:
    """The part with LIKE's special characters escaped."""
    return part.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
