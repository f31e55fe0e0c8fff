"""Who may do what: the one table of actions, and the decision. Pure."""
