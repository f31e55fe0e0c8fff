"""What sessions use: samples of CPU and memory, for pages and pictures."""
