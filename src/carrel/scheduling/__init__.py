"""Who runs where, decided on a snapshot. Pure: same snapshot, same plan."""
