"""Recurring sessions: schedules by cron expressions, their rules, and the history of their runs."""
