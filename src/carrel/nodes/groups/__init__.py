"""Resource groups: which nodes belong together, who may use them, and how their queue is ordered."""
