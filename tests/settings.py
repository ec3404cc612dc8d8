"""The site's own settings, with what only tests need: quick hashing, plain static files, a folder of their own."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("IDLE_TRANSACTION_SECONDS", "600")  # a busy machine may leave a test alone for longer than 30 s
os.environ.setdefault("VAR_DIR", tempfile.mkdtemp(prefix="benchsite-test-"))

from benchsite.settings import *  # noqa: F403
from benchsite.settings import DATABASES, INSTALLED_APPS, STORAGES, VAR_DIR

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PROBE_KEPT_SECONDS = 0  # what a page was told in one test is not for the next
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file, as in production: several threads and processes can use it, which a database in memory does not allow.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}

# `tests.run` migrates one database for all workers, who begin with copies of it.
if template := os.environ.get("TEST_TEMPLATE"):
    DATABASES["default"].setdefault("TEST", {}).update(MIGRATE=False, TEMPLATE=template)

# A live server's threads would keep theirs, and a database with a visitor cannot be dropped at the end.
DATABASES["default"]["CONN_MAX_AGE"] = 0

INSTALLED_APPS = [*INSTALLED_APPS, "tests.best_of_four"]  # the table of a protocol that lives here alone
