"""Who is logged in: Django's sessions and accounts, read by prepared statements, because every request of a judge needs both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from django.contrib import auth
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware as Base
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import now

from benchsite.lib.database.prepared import CompiledQuery

USUAL_BACKEND = "django.contrib.auth.backends.ModelBackend"
SESSION = CompiledQuery(lambda key: Session.objects.filter(session_key=key), str)
ACCOUNT = CompiledQuery(lambda pk: User.objects.filter(pk=pk), int)


class SessionStore(db.SessionStore):
    """A session in the database. What was read and found to be signed is not checked again."""

    def load(self) -> dict[str, Any]:
        row = next(iter(SESSION.rows(self.session_key or "")), None)
        if row is None or row.expire_date <= now():
            self._session_key = None
            return {}
        return dict(_decoded(row.session_data))

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session


@lru_cache(maxsize=4096)
def _decoded(data: str) -> dict[str, Any]:
    return SessionStore().decode(data)


class AuthenticationMiddleware(Base):
    """Sets `request.user`. All that is unusual about a session is left to Django: other backends, keys that were changed."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = cast(User, SimpleLazyObject(lambda: _account(request)))


def _account(request: HttpRequest) -> User | AnonymousUser:
    session = request.session
    key, backend = session.get(SESSION_KEY, ""), session.get(BACKEND_SESSION_KEY)
    if backend == USUAL_BACKEND and key.isascii() and key.isdigit():
        user = next(iter(ACCOUNT.rows(int(key))), None)
        checked = session.get(HASH_SESSION_KEY, "")
        if user and user.is_active and constant_time_compare(checked, user.get_session_auth_hash()):
            return user
    return auth.get_user(request)
