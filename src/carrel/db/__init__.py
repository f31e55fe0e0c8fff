"""PostgreSQL: connections, transactions, NOTIFY, the leader lock, migrations, the embedded server.

Independent of the domain; table definitions live in `carrel.tables`.
"""
