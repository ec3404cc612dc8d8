"""A provider that needs no key: a local server with a few players of clearly different skill."""
