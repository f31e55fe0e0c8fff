"""What runs in the session that imports: parts of its shell script, and a program that one of them contains."""
