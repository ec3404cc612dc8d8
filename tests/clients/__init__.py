"""The clients in `clients/`, against real servers."""
