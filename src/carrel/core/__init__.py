"""Basic types of every layer: ids, units, time, errors, lifecycles. Pure; imports nothing else from Carrel."""
