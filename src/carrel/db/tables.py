"""The declarative base of all tables."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase


class Table(DeclarativeBase):
    """A row of a table. Constraint names are derived, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
