"""Authorization: the table of actions and the decision. Pure."""
