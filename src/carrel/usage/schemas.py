"""API types of usage."""

from datetime import datetime

from pydantic import BaseModel


class SampleView(BaseModel):
    """cpu_millis: mean of the seconds before `at`."""

    at: datetime
    cpu_millis: int
    mem_bytes: int


class SampleList(BaseModel):
    samples: list[SampleView]


class Series(BaseModel):
    """Oldest first, 5 s apart."""

    cpu_millis: list[int]
    mem_bytes: list[int]


class RecentUsage(BaseModel):
    """By session id; sessions without samples are absent."""

    items: dict[str, Series]
