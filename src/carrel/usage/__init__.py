"""Usage of sessions: samples of CPU, memory and accelerators, for charts and idle checks; and history."""
