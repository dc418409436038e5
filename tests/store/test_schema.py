from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from cvmbench.store.opening import MIGRATIONS
from cvmbench.store.schema import SCHEMA_VERSION, metadata, sample
from cvmbench.store.store import Store


def test_the_migrations_lead_to_exactly_this_schema(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


def test_the_tables_of_a_store_are_declared_as_in_the_schema(store: Store, tmp_path: Path) -> None:
    """Alembic's comparison sees neither WITHOUT ROWID nor the order of columns."""
    made = create_engine(f"sqlite:///{tmp_path / 'made.sqlite'}")
    metadata.create_all(made)

    def columns(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
        with engine.connect() as connection:
            return {
                name: [
                    tuple(row) for row in connection.execute(text(f"PRAGMA table_xinfo({name})"))
                ]
                for name in metadata.tables
            }

    assert columns(store.engine) == columns(made)
    made.dispose()
    with store.engine.connect() as connection:
        kinds = connection.execute(
            text("SELECT name, wr FROM pragma_table_list WHERE schema='main'")
        )
        assert {name for name, without_rowid in kinds if without_rowid} == {"sample"}


def test_the_newest_migration_is_the_schema_version() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA_VERSION]


@pytest.mark.parametrize("name", sorted(metadata.tables))
def test_every_table_can_be_made_in_postgresql(name: str) -> None:
    dialect: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    table = metadata.tables[name]
    made = str(CreateTable(table).compile(dialect=dialect))
    assert f"CREATE TABLE {name}" in made
    assert "ROWID" not in made
    for index in table.indexes:
        assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=dialect))


def test_postgresql_keeps_values_in_double_precision_and_counts_no_sample_key() -> None:
    dialect: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made = str(CreateTable(sample).compile(dialect=dialect))
    assert "value DOUBLE PRECISION NOT NULL" in made
    assert "SERIAL" not in made
