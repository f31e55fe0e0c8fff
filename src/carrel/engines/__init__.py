"""What runs containers: the port, its implementations, and the conformance suite they all pass."""
