"""Updates of watched images: a tag that has a new digest at its registry."""
