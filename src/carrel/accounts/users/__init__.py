"""Administration of people: making, changing, disabling and purging them, one or many."""
