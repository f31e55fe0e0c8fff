"""Virtual folders: whose they are, who may do what with them, what is being done with them, and what they take."""
