"""External identity providers: the port and its implementations. Independent of Carrel's tables."""
