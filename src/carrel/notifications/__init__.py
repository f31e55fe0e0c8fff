"""Notifications of sessions by mail and webhook: what each user chose, webhooks, and their deliveries."""
