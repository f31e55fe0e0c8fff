"""The scheduler: plans placements on a snapshot. Pure: same snapshot, same plan."""
