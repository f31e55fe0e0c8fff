"""The scheduler's view of the database and the queries on it: why, check, queue, shares, allocations."""
