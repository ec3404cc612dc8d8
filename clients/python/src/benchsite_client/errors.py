"""What the site says went wrong."""

from __future__ import annotations

from typing import Any

import httpx


class BenchsiteError(Exception):
    """A problem+json of the site: `status`, `code`, `detail`, and `errors` with line and field of each."""

    def __init__(self, status: int, code: str, detail: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status, self.code, self.detail, self.errors = status, code, detail, errors


def error_of(response: httpx.Response) -> BenchsiteError:
    """Of any response; one that is no problem+json comes from a proxy or from another site."""
    try:
        problem = response.json()
        code = str(problem["type"]).rpartition("#")[2]
        return BenchsiteError(response.status_code, code, str(problem["detail"]), list(problem.get("errors", [])))
    except (ValueError, KeyError, TypeError):
        detail = f"{response.reason_phrase or 'No reason'} ({response.request.method} {response.request.url})"
        return BenchsiteError(response.status_code, "http", detail, [])
