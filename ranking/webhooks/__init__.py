"""Webhooks: word of a run to an address that a curator chose, signed, sent again until it arrives, and never more than pages show."""
