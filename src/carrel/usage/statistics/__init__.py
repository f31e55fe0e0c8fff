"""Statistics of a period: allocation, use, waste, waiting times and cost, from the days of `usage.days`."""
