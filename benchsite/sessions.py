"""Who is logged in: Django's sessions and accounts, read by prepared statements, because every request of a judge needs both."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.middleware import AuthenticationMiddleware as Base
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import now

from benchsite.lib.database.prepared import CompiledQuery

M = TypeVar("M")
SECOND_FACTOR = "second_factor"  # in a session of a curator or superuser: "due" or "passed"
USUAL_BACKEND = "django.contrib.auth.backends.ModelBackend"
SESSION = CompiledQuery(lambda key: Session.objects.filter(session_key=key), str)
ACCOUNT = CompiledQuery(lambda pk: User.objects.filter(pk=pk), int)
REMEMBERED = 10_000  # sessions


def _account_with_session(pk: int, key: str) -> QuerySet[User]:
    session = Session.objects.filter(session_key=key)
    columns = {name: Subquery(session.values(name)) for name in ("session_data", "expire_date")}
    return User.objects.filter(pk=pk).annotate(**columns)


ACCOUNT_WITH_SESSION = CompiledQuery(_account_with_session, int, str)
_accounts: dict[str, int] = {}  # by session: whose it was when this process last saw it


class SessionStore(db.SessionStore):
    """A session in the database. What was read and found to be signed is not checked again.

    Whose session it is stands inside it. Where this process has seen it before, the account of then is read along with it, and
    counts if it is still the one that the session names.
    """

    account: User | None = None

    def load(self) -> dict[str, Any]:
        key = self.session_key or ""
        pk = _accounts.get(key)
        self.account = _first(ACCOUNT_WITH_SESSION.rows(pk, key)) if pk else None
        # Annotated by the query; a session that ended has none.
        row: Any = self.account if getattr(self.account, "session_data", None) else _first(SESSION.rows(key))
        if row is None or row.expire_date <= now():
            self.account = self._session_key = None
            return {}
        # What is remembered is shared: a list or an object that a view changes must be its own.
        values = _decoded(row.session_data).items()
        return {name: value if isinstance(value, str) else copy.deepcopy(value) for name, value in values}

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session


def _remember(key: str, pk: int) -> None:
    if len(_accounts) >= REMEMBERED:
        _accounts.clear()
    _accounts[key] = pk


def _first(rows: list[M]) -> M | None:
    return next(iter(rows), None)


@lru_cache(maxsize=4096)
def _decoded(data: str) -> dict[str, Any]:
    return SessionStore().decode(data)


class AuthenticationMiddleware(Base):
    """Sets `request.user`. All that is unusual about a session is left to Django: other backends, keys that were changed."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = cast(User, SimpleLazyObject(lambda: _account(request)))


def _account(request: HttpRequest) -> User | AnonymousUser:
    """Who is logged in; nobody while a second factor is due."""
    user = session_account(request)
    return AnonymousUser() if isinstance(user, User) and user.is_staff and not _has_passed(request, user) else user


def _has_passed(request: HttpRequest, user: User) -> bool:
    """A session of a password alone may be older than the second factor, or than the role: what the account has now counts."""
    state = request.session.get(SECOND_FACTOR)
    if state is not None or settings.REQUIRE_TOTP:
        return state == "passed"
    return not User.objects.filter(Q(authenticator__isnull=False) | has_provider_roles(), pk=user.pk).exists()


def has_provider_roles() -> Q:
    """Accounts whose roles the login provider gave: they log in there, so that it can take them back."""
    return Q(identities__issuer=settings.OIDC_ISSUER, identities__roles__0__isnull=False)


def session_account(request: HttpRequest) -> User | AnonymousUser:
    """Whose session it is, whether or not a second factor is due."""
    session = request.session
    key, backend = session.get(SESSION_KEY, ""), session.get(BACKEND_SESSION_KEY)
    if backend == USUAL_BACKEND and key.isascii() and key.isdigit():
        pk = int(key)
        read_along = getattr(session, "account", None)
        user = read_along if read_along and read_along.pk == pk else _first(ACCOUNT.rows(pk))
        checked = session.get(HASH_SESSION_KEY, "")
        if user and user.is_active and constant_time_compare(checked, user.get_session_auth_hash()):
            _remember(session.session_key or "", pk)
            return user
    return auth.get_user(request)
