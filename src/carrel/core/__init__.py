"""Words every layer shares: ids, units, time, errors, lifecycles. Pure; imports nothing of ours."""
