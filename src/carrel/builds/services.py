"""Services of the routes of builds."""

from dataclasses import dataclass

from carrel.http.services import Services


@dataclass(frozen=True, kw_only=True)
class BuildServices(Services):
    """`micromamba`: see `conda.tool`."""

    micromamba: str
