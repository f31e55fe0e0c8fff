"""The scheduler's view of the database, and what people may ask of it: why, what if, who is next, who holds what."""
