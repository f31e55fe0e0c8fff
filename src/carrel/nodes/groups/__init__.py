"""Resource groups: sets of nodes with an access list, a queue order and placement rules."""
