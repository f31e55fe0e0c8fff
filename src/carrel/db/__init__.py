"""PostgreSQL: connections, transactions, NOTIFY, the leader lock, migrations, the embedded server.

Knows no concept; tables live with their concepts.
"""
