"""Roles, and the first logins of a new site."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import QuerySet

from benchsite.lib.private_files import write_private

CURATORS = "curators"
FIRST = {"admin": "superuser", "curator": "curator", "judge1": "judge", "judge2": "judge", "judge3": "judge"}

# Facts are read, never edited: what a curator may do to them is an action with a reason.
CURATOR_APPS = ("generation", "judging", "ranking")


def curators() -> Group:
    """The group of curators: they view every table of ours and have no permissions over users, votes or money."""
    group, _ = Group.objects.get_or_create(name=CURATORS)
    views = Permission.objects.filter(content_type__app_label__in=CURATOR_APPS, codename__startswith="view_")
    group.permissions.set(views)
    return group


def make_curator(user: User) -> None:
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    user.groups.add(curators())


def first_judges() -> QuerySet[User]:
    """The judges that `create_first_logins` made and that still exist."""
    names = [name for name, role in FIRST.items() if role == "judge"]
    return User.objects.filter(username__in=names, is_active=True)


def make_password() -> str:
    return "-".join(secrets.token_hex(2) for _ in range(4))


@transaction.atomic
def create_first_logins(path: Path) -> list[tuple[str, str, str]]:
    """A superuser, a curator and three judges with random passwords, kept in `path`; nothing if anyone exists."""
    if User.objects.exists():
        curators()  # a new release may bring tables that curators should see
        return []
    logins = [(name, make_password(), role) for name, role in FIRST.items()]
    for name, password, role in logins:
        user = User.objects.create_user(name, password=password)
        if role == "superuser":
            user.is_staff = user.is_superuser = True
            user.save(update_fields=["is_staff", "is_superuser"])
        if role == "curator":
            make_curator(user)
    write_private(path, "".join(f"{name:10} {password}   {role}\n" for name, password, role in logins))
    return logins
