"""How a test that committed rows leaves the database: the tables that have some are emptied, and nothing else is done.

Django's flush empties every table, which costs PostgreSQL many times as much, and makes permissions and content types anew.
"""

from __future__ import annotations

from django.db import connections, transaction
from django.test import TransactionTestCase

KEPT = ("django_migrations", "django_content_type", "auth_permission")  # what migrations fill and no test changes


def empty_tables(alias: str) -> None:
    connection = connections[alias]
    quote = connection.ops.quote_name
    tables = [table for table in connection.introspection.django_table_names() if table not in KEPT]
    asked = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {quote(table)})" for table in tables)
    # In one transaction: PostgreSQL compares foreign keys at its end, and SQLite not at all.
    with connection.constraint_checks_disabled(), transaction.atomic(alias), connection.cursor() as cursor:
        cursor.execute(asked)
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {quote(table)}")


def empty_only_what_has_rows() -> None:
    def empty(test: TransactionTestCase) -> None:
        for alias in test._databases_names(include_mirrors=False):
            empty_tables(alias)

    TransactionTestCase._fixture_teardown = empty
