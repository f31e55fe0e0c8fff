"""Pages of any list follow each other as Python would sort it: no gap, no repeat, NULLs last."""

import base64
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import BigInteger, DateTime, String, column, func, select, values

from carrel.core.errors import Invalid
from carrel.http.paging import PageQuery, Sort, page

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_ROWS = st.lists(
    st.tuples(
        st.text(alphabet="abAB한 ", max_size=3),
        st.none() | st.integers(-3, 3),
        st.none() | st.integers(0, 3).map(lambda hours: _DAY + timedelta(hours=hours, microseconds=1)),
    ),
    max_size=12,
)
_PLACE = {"name": 0, "count": 1, "at": 2}


def _listed(rows):
    kinds = [("name", String), ("count", BigInteger), ("at", DateTime(timezone=True)), ("id", String)]
    return values(*(column(name, kind) for name, kind in kinds), name="listed").data(
        [(*row, f"{place:02}") for place, row in enumerate(rows)] or [("", None, None, "none")]
    )


def _sort(listed) -> Sort:
    return Sort({name: listed.c[name] for name in _PLACE}, tie=listed.c.id, default="-at")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=_ROWS, by=st.sampled_from(sorted(_PLACE)), down=st.booleans(), limit=st.integers(1, 5))
async def test_pages_are_a_plain_sort_cut_into_pieces(database, rows, by, down, limit):
    listed = _listed(rows)
    query, seen = PageQuery(sort=f"-{by}" if down else by, limit=limit), []
    async with database.transaction() as tx:
        while True:
            # The embedded server's order of letters is Python's.
            result = await page(tx, select(listed.c.id).where(listed.c.id != "none"), _sort(listed), query)
            seen.append([row.id for row in result.rows])
            if result.next_cursor is None:
                break
            query = query.model_copy(update={"cursor": result.next_cursor})
    keyed = sorted(
        (
            (row[_PLACE[by]] is None, row[_PLACE[by]] or _low(by), f"{place:02}")
            for place, row in enumerate(rows)
        ),
        reverse=down,
    )
    expected = [key[-1] for key in keyed]
    assert [row for rows in seen for row in rows] == expected
    assert all(len(rows) == limit for rows in seen[:-1])
    assert len(seen[-1]) <= limit


def _low(by: str) -> object:
    return {"name": "", "count": 0, "at": _DAY}[by]


def _cursor(key: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%%%",
        "한",
        _cursor(None),
        _cursor(["-at"]),
        _cursor(["at", _DAY.isoformat(), "00"]),  # of another order
        _cursor(["-at", "2026-01-01T00:00:00", "00"]),  # no zone
        _cursor(["-at", 5, "00"]),
        _cursor(["-at", _DAY.isoformat(), None]),
        _cursor(["-at", _DAY.isoformat(), "\0"]),
        _cursor(["-at", _DAY.isoformat(), ["00"]]),
    ],
)
async def test_a_cursor_that_does_not_fit_is_refused(cursor):
    with pytest.raises(Invalid) as refused:
        _sort(_listed([])).order(None, cursor)
    assert (refused.value.code, refused.value.field) == ("invalid.cursor", "cursor")


@pytest.mark.parametrize("number", [1 << 63, 1.5, True, "1"])
def test_a_number_that_its_column_cannot_hold_is_refused(number):
    with pytest.raises(Invalid):
        _sort(_listed([])).order("count", _cursor(["count", number, "00"]))


@pytest.mark.parametrize("query", ["id", "-", "--at", "at,name"])
def test_only_what_the_list_names_sorts_it(query):
    with pytest.raises(Invalid) as refused:
        _sort(_listed([])).order(query, None)
    assert refused.value.code == "invalid.sort"


async def test_rows_keep_the_names_that_were_selected(database):
    listed = _listed([("b", 1, None), ("a", 2, None)])
    async with database.transaction() as tx:
        result = await page(
            tx, select(func.upper(listed.c.name).label("loud")), _sort(listed), PageQuery(sort="name")
        )
    assert [(row.loud, len(row)) for row in result.rows] == [("A", 1), ("B", 1)]
