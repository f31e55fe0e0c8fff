"""Tables of all packages, with state machines. No decisions; every package may read them."""
