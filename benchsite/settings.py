"""One settings file: it runs from a fresh clone without any variable, and from variables alone in production."""

from __future__ import annotations

import os
from pathlib import Path

from csp.constants import NONE, SELF
from django.contrib.messages import constants as messages

from benchsite.environment import (
    env_bool,
    env_database,
    env_folder,
    env_int,
    env_list,
    env_roles,
    env_str,
    left_behind,
    postgresql_options,
    refuse_half_a_login,
    secret_key,
)
from benchsite.lib.languages import LANGUAGES as TRANSLATIONS
from benchsite.lib.progress_bar import Pace
from benchsite.logs import logging_config

# Two BLAS threads on a busy machine cost 20 to 40 times for matrices of our size.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = env_folder("VAR_DIR", BASE_DIR / "var")
os.environ.setdefault("BENCHSITE_VIT_DIR", str(VAR_DIR / "vit"))  # where `manage.py fetch_vit` puts a classifier
SUITES_DIR = Path(env_str("SUITES_DIR", str(BASE_DIR / "config")))

DEBUG = env_bool("DEBUG", False)
SECRET_KEY = secret_key(VAR_DIR)
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
SITE_URL = env_str("SITE_URL")  # such as https://bench.example.org: the public address, and the switch to HTTPS only
CSRF_FAILURE_VIEW = "judging.studies.views.stale.stale_form"
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL else []
PROXIES = env_int("PROXIES", 0)  # proxies in front, whose forwarded headers are trusted

INSTALLED_APPS = [
    "benchsite",
    "generation",
    "judging",
    "ranking",
    "accounts",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_rq",
    "axes",
    "csp",
]
MIDDLEWARE = [
    "benchsite.tracing.trace_request",
    "benchsite.request_ids.name_request",
    "benchsite.refusals.keep_a_thread",
    "benchsite.refusals.replace_nul",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "benchsite.content_policy.PolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "benchsite.languages.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "benchsite.sessions.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "benchsite.refusals.limit_uploads",
    "benchsite.refusals.say_method",
]
ROOT_URLCONF = "benchsite.urls"
WSGI_APPLICATION = "benchsite.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "benchsite.templatetags.wording"],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DATABASES = {"default": env_database(f"sqlite:///{VAR_DIR / 'db.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Django's deferred default gave hundreds of "database is locked" with four writers; these gave none.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["ENGINE"] = "benchsite.lib.database.postgresql"
    DATABASES["default"]["OPTIONS"] = postgresql_options(DATABASES["default"].get("OPTIONS", {}))
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = env_bool("DATABASE_POOLER", False)

REDIS_URL = left_behind("REDIS_URL", VAR_DIR / "redis_url", "redis://127.0.0.1:6379/0")
_QUEUE = {"URL": REDIS_URL, "DEFAULT_TIMEOUT": 1800, "SERIALIZER": "rq.serializers.JSONSerializer"}
RQ_QUEUES = {"draw": _QUEUE, "measure": _QUEUE, "fit": _QUEUE}
RQ = {"COMMIT_MODE": "on_db_commit"}
RQ_SHOW_ADMIN_LINK = False  # its dashboard lets any member of staff empty the queues

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "accounts.passwords.PasswordSwitch",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AXES_FAILURE_LIMIT = env_int("LOGIN_FAILURES", 8)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "benchsite.lockouts.LoginHandler"
LOGIN_FAILURES_PER_ADDRESS = env_int("LOGIN_FAILURES_PER_ADDRESS", 60)  # a class of 30 shares one, and mistypes
AXES_SENSITIVE_PARAMETERS = ["next", "code", "state"]  # next may hold an invitation's path
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "judging/locked.html"
AXES_CLIENT_IP_CALLABLE = "benchsite.addresses.client_address"

# Single sign-on (OpenID Connect); off until OIDC_ISSUER is set. docs/operations.md explains each of these.
OIDC_ISSUER = env_str("OIDC_ISSUER")
OIDC_CLIENT_ID = env_str("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env_str("OIDC_CLIENT_SECRET")  # none for a public client: PKCE protects the code
OIDC_NAME = env_str("OIDC_NAME", "single sign-on")
OIDC_SCOPES = env_str("OIDC_SCOPES", "openid email profile")
OIDC_GROUPS_CLAIM = env_str("OIDC_GROUPS_CLAIM", "groups")
OIDC_ROLES = env_roles("OIDC_ROLES")
OIDC_DOMAINS = env_list("OIDC_DOMAINS", [])
OIDC_SESSION_HOURS = env_int("OIDC_SESSION_HOURS", 12)
OIDC_TOKEN_DAYS = env_int("OIDC_TOKEN_DAYS", 7)
LOCAL_PASSWORDS = env_bool("LOCAL_PASSWORDS", True)
REQUIRE_TOTP = env_bool("REQUIRE_TOTP", False)  # of curators and superusers who log in with a password
refuse_half_a_login(OIDC_ISSUER, OIDC_CLIENT_ID, LOCAL_PASSWORDS)

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

UPLOAD_MEGABYTES = env_int("UPLOAD_MEGABYTES", 64)  # of a curator; others have nothing to upload

MESSAGE_TAGS = {messages.SUCCESS: "good", messages.WARNING: "warn", messages.ERROR: "bad"}

LANGUAGE_CODE = "en-gb"
LANGUAGES = [(LANGUAGE_CODE, "English (UK)"), *TRANSLATIONS.items()]  # of participants' pages; see docs/studies.md
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env_str("STATIC_ROOT", str(VAR_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SESSION_ENGINE = "benchsite.sessions"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
if SITE_URL.startswith("https://"):
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXIES else None
    SECURE_HSTS_SECONDS = env_int("HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

LOGGING_CONFIG = None
LOGGING = logging_config(level=env_str("LOG_LEVEL", "INFO"), as_json=env_bool("LOG_JSON", False))
PROGRESS_PACE = Pace()
# The demo profile in config/providers.yaml reads this variable; no Django there.
if not os.environ.get("DEMO_PROVIDER_URL"):
    os.environ["DEMO_PROVIDER_URL"] = left_behind("DEMO_PROVIDER_URL", VAR_DIR / "demo_url", "http://127.0.0.1:8765/v1")

DEMO_JUDGES, DEMO_VOTES = 10, 400  # simulated judges of a new site's demo runs, and what they vote together

WEB_THREADS = env_int("WEB_THREADS", 4)  # of each web process; one of them stays free for /healthz and /readyz
STUCK_SECONDS = 2.0  # a request that has run for so long may be waiting for a database that is away
METRICS_PATIENCE_SECONDS = 2.5  # the page waits no longer for the database
METRICS_KEPT_SECONDS = (
    120.0  # numbers that came too late for their page are on the next one, until they are as old as this
)
PROBE_KEPT_SECONDS = 1.0  # for so long one look at the database and the queue serves everybody who asks
METRICS_TOKEN = env_str("METRICS_TOKEN")  # without one, /metrics answers this machine alone

# Notices of finished and paused runs; off until one of the two is set.
NOTIFY_EMAIL = env_list("NOTIFY_EMAIL", [])
NOTIFY_WEBHOOK = env_str("NOTIFY_WEBHOOK")
# Whether curators' webhooks may go to http and private addresses: for sites that nobody but their own network reaches.
WEBHOOKS_TO_PRIVATE = env_bool("WEBHOOKS_TO_PRIVATE", False)
EMAIL_HOST = env_str("EMAIL_HOST", "localhost")
EMAIL_PORT = env_int("EMAIL_PORT", 25)
EMAIL_HOST_USER = env_str("EMAIL_USER")
EMAIL_HOST_PASSWORD = env_str("EMAIL_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_TLS", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env_str("EMAIL_FROM", "benchsite@localhost")

# A recruiting platform's API and webhooks, as Prolific has them; see docs/studies.md.
PLATFORM_URL = env_str("PLATFORM_URL", "https://api.prolific.com")
PLATFORM_TOKEN = env_str("PLATFORM_TOKEN")
PLATFORM_WEBHOOK_SECRET = env_str("PLATFORM_WEBHOOK_SECRET")

# Drawing: a call may take DRAW_DEADLINE seconds in all (or its provider's own, shorter timeout); a worker that has not
# settled LEASE_MARGIN seconds later counts as dead. docs/drawing.md explains each of these.
DRAW_DEADLINE = env_int("DRAW_DEADLINE", 600)
LEASE_MARGIN = env_int("LEASE_MARGIN", 30)
DRAW_SLICE = env_int("DRAW_SLICE", 600)  # a job draws this long, then enqueues the next
SWEEP_SECONDS = env_int("SWEEP_SECONDS", 15)
MAX_CLAIMS = env_int("MAX_CLAIMS", 6)  # a sample claimed this often without an answer fails
PYTHON_PROGRAMS = env_bool("PYTHON_PROGRAMS", False)  # whether entrants' Python programs are run, in a sandbox
RETRY_SECONDS = env_int("RETRY_SECONDS", 2)  # the first wait after an error; it doubles, with jitter
DRAW_IDLE_SECONDS = 1.0  # how often a run with nothing due is checked again
DRAW_RELOAD_SECONDS = 15.0  # how soon a worker notices a run that was started, extended or given another budget
ALIVE_SECONDS = 5.0  # how often a worker says that it still waits for its calls; after four times as long it seems lost
PRICE_SECONDS = 60.0  # how soon a provider is asked again for missing prices
CATALOGUE_SECONDS = 5.0  # how long a page waits for a provider's list of models
MOST_COST_CHECKS = 5  # how often a provider is asked what a call cost
# A public state of a run that people judge blind: see docs/judging.md.
PUBLIC_STATE_VOTES = env_int("PUBLIC_STATE_VOTES", 20)  # new ones by others than any two judges, before each state
PUBLIC_STATE_GROWTH = 3  # and so many for each vote that the last state rested on: few states, few comparisons
PUBLIC_STATE_SHARE = 10  # no judge counts for more than one in so many of the votes by others than the two busiest
STUDY_ENTRIES_AN_HOUR = 30  # from one address to the studies of a run; a study's per_address says otherwise
ARENA_ENTRIES_AN_HOUR = 10  # the same for an open arena
REPORTS_AN_HOUR = 20  # that a judge can make
MIN_VOTE_SECONDS = 0.3  # a vote that follows another sooner is refused: nobody looks so quickly
BREAKER_FAILURES = env_int("BREAKER_FAILURES", 10)  # consecutive failures before a model is rested
