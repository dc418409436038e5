"""Runs migrations on the connection, and inside the transaction, of whoever opens the store."""

from alembic import context

from cvmbench.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite can roll back DDL; without this Alembic assumes that it cannot.
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
