"""Container engines: the port, its implementations, and the conformance suite for all of them."""
