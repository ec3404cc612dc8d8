"""Hostile inputs, and the server that replays the HTTP ones."""
