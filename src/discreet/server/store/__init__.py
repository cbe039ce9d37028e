"""The database: tables, transactions, migrations. SQLite in the home folder, or PostgreSQL by its address."""

from sqlalchemy import Connection as Connection

from discreet.server.store.database import Store as Store
