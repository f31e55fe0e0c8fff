"""One line per measured property, and the output format of the lines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Line:
    """ratio: ours divided by the floor; None for a single figure. goal: met when it holds.

    best: "low" when a smaller ratio (or figure) is better. ours, floor: figures with their unit.
    """

    name: str
    ours: str
    conditions: str
    ratio: float | None = None
    floor: str = ""
    goal: float | None = None
    best: str = "low"
    value: float | None = None

    @property
    def met(self) -> bool | None:
        """None: there is no goal."""
        figure = self.ratio if self.ratio is not None else self.value
        if self.goal is None or figure is None:
            return None
        return figure <= self.goal if self.best == "low" else figure >= self.goal

    @property
    def goal_text(self) -> str:
        if self.goal is None:
            return "-"
        sign = "<=" if self.best == "low" else ">="
        return f"{sign} {self.goal:g}" + (" x" if self.ratio is not None else "")


_HEADINGS = ("name", "ratio", "ours", "floor", "goal", "met", "conditions")


def as_table(lines: Sequence[Line]) -> str:
    """Plain text in columns."""
    rows = [_HEADINGS] + [
        (
            line.name,
            f"{line.ratio:.2f} x" if line.ratio is not None else "-",
            line.ours,
            line.floor or "-",
            line.goal_text,
            {True: "yes", False: "NO", None: "-"}[line.met],
            line.conditions,
        )
        for line in lines
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def as_json(lines: Sequence[Line]) -> str:
    return json.dumps([{**asdict(line), "met": line.met} for line in lines], indent=2)
