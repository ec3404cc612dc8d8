"""Shares of picks."""
