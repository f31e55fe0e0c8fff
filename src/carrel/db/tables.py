"""The declarative base that every concept's tables share."""

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase


class Table(DeclarativeBase):
    """One row of one table. Constraint names are derived, so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
