"""The result store: schema, migrations, records and raw files."""
