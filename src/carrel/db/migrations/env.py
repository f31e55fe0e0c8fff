"""Alembic's entry point: runs on the connection that `db.migrate` provides."""

from alembic import context

connection = context.config.attributes["connection"]
metadata = context.config.attributes.get("metadata")

context.configure(connection=connection, target_metadata=metadata, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
