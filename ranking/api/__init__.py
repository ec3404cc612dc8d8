"""API v1: what programs read of the site and do to it, described by the OpenAPI document that the site serves."""
