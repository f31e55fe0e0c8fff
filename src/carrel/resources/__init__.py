"""Administration of resource groups and their nodes: making, changing, opening to people, emptying."""
