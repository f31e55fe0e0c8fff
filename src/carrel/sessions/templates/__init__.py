"""Templates: saved session definitions with parameters, which their owner or the members of a project start."""
