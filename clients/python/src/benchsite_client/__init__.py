"""Python client of Benchsite's API v1."""

from benchsite_client.clients import AsyncClient, Client
from benchsite_client.errors import BenchsiteError
from benchsite_client.rows import AsyncRows, Rows

__all__ = ["AsyncClient", "AsyncRows", "BenchsiteError", "Client", "Rows"]
