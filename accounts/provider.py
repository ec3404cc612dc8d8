"""The identity provider: its discovery document, and the tokens it sends, believed only after every check.

mozilla-django-oidc brings state, nonce and PKCE; it checks neither issuer nor audience nor that a token expires, and knows
people by their e-mail address. So claims are checked here, and people are known by issuer and subject.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import jwt
import requests
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.utils.crypto import constant_time_compare
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from accounts.problems import LoginProblemError
from benchsite.lib.hosts import is_https_or_local

TIMEOUT_SECONDS = 5
KEPT_SECONDS = 600  # a discovery document
LEEWAY_SECONDS = 60  # that clocks may differ by
REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
# Signatures by a key pair only: none, and HMAC with a key that others may know, are refused whatever the token says.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]

_kept: dict[str, tuple[float, Provider]] = {}


@dataclass(frozen=True)
class Provider:
    """Where a provider listens, as it says itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    # Ways to send the client's secret that it takes, the standard's own first.
    secret_in: tuple[str, ...] = ("basic",)


def discover() -> Provider:
    """The provider of the settings; asked again after ten minutes, or at once if it did not answer."""
    issuer = settings.OIDC_ISSUER
    at, provider = _kept.get(issuer, (0.0, None))
    if provider is None or time.monotonic() - at > KEPT_SECONDS:
        provider = _described(issuer)
        _kept[issuer] = (time.monotonic(), provider)
    return provider


def _described(issuer: str) -> Provider:
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        response = requests.get(address, timeout=TIMEOUT_SECONDS, allow_redirects=False)
        document = response.json() if response.status_code == 200 else None
    except requests.JSONDecodeError as error:
        raise LoginProblemError("misconfigured", f"{address} is no JSON") from error
    except requests.RequestException as error:
        raise LoginProblemError("away", f"{address}: {type(error).__name__}") from error
    if document is None:
        key = "away" if response.status_code >= 500 else "misconfigured"
        raise LoginProblemError(key, f"{address} answered {response.status_code}")
    return _provider(document, issuer)


def _provider(document: Any, issuer: str) -> Provider:
    if not isinstance(document, dict) or document.get("issuer") != issuer:
        raise LoginProblemError("misconfigured", "The discovery document names another issuer than OIDC_ISSUER.")
    names = ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint"]
    endpoints = {name: document[name] for name in names if document.get(name)}
    if wrong := [name for name, url in endpoints.items() if not (isinstance(url, str) and is_https_or_local(url))]:
        raise LoginProblemError("misconfigured", f"Not https: {', '.join(wrong)}.")
    if missing := [name for name in names[:3] if name not in endpoints]:
        raise LoginProblemError("misconfigured", f"The discovery document lacks {', '.join(missing)}.")
    methods = document.get("token_endpoint_auth_methods_supported") or []
    ways = tuple(way for way in ("basic", "post") if f"client_secret_{way}" in methods)
    return Provider(issuer, secret_in=ways or ("basic",), **endpoints)


class TokenReader(OIDCAuthenticationBackend):
    """Exchanges a code for claims. It is no backend of Django's: who the claims mean is decided in `identities`."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.OIDC_OP_JWKS_ENDPOINT = provider.jwks_uri
        self.OIDC_OP_USER_ENDPOINT = provider.userinfo_endpoint

    @staticmethod
    def get_settings(attr: str, *default: Any) -> Any:
        return TIMEOUT_SECONDS if attr == "OIDC_TIMEOUT" else (default[0] if default else None)

    def read(self, *, code: str, verifier: str, nonce: str, redirect_uri: str) -> tuple[dict[str, Any], str]:
        """The claims and the ID token they are from."""
        token = self._exchange(code, verifier, redirect_uri)
        id_token = token.get("id_token")
        if not isinstance(id_token, str):
            raise LoginProblemError("token", "no ID token")
        try:
            claims = self.verify_token(id_token, nonce=nonce)
            return self._with_userinfo(claims, token.get("access_token")), id_token
        except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError) as error:
            raise LoginProblemError("clock", str(error)) from error
        except requests.RequestException as error:
            raise LoginProblemError("away", type(error).__name__) from error
        except (jwt.PyJWTError, SuspiciousOperation, LookupError, TypeError, ValueError) as error:
            raise LoginProblemError("token", f"{type(error).__name__}: {error}") from error

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """The claims of a token that the provider signed for this site, for this login and for now."""
        claims = jwt.decode(
            token,
            self.retrieve_matching_jwk(token),
            algorithms=ALGORITHMS,
            audience=settings.OIDC_CLIENT_ID,
            issuer=self.provider.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED},
        )
        if not constant_time_compare(str(claims.get("nonce", "")), kwargs["nonce"]):
            raise LoginProblemError("token", "The nonce is another login's.")
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", settings.OIDC_CLIENT_ID if not several else None) != settings.OIDC_CLIENT_ID:
            raise LoginProblemError("token", "The token was made for another client.")
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
            raise LoginProblemError("token", "The subject is no text of 1 to 255 characters.")
        return claims

    def _exchange(self, code: str, verifier: str, redirect_uri: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "client_id": settings.OIDC_CLIENT_ID,
        }
        # Some providers name several ways and take one alone from each client; a code is not used up by the wrong one.
        for way in self.provider.secret_in:
            response, answer = self._ask_for_token(form, way)
            if response.status_code != 401 and answer.get("error") not in ("invalid_client", "unauthorized_client"):
                break
        if response.status_code == 200:
            return answer
        reason = str(answer.get("error", ""))[:60]
        key = "state" if reason == "invalid_grant" else "away" if response.status_code >= 500 else "misconfigured"
        raise LoginProblemError(key, f"The token endpoint answered {response.status_code} {reason}")

    def _ask_for_token(self, form: dict[str, str], way: str) -> tuple[requests.Response, dict[str, Any]]:
        """With the client's secret, if it has one."""
        secret, auth = settings.OIDC_CLIENT_SECRET, None
        if secret and way == "basic":
            auth = (quote_plus(settings.OIDC_CLIENT_ID), quote_plus(secret))  # RFC 6749, 2.3.1
        elif secret:
            form = form | {"client_secret": secret}
        try:
            response = requests.post(
                self.provider.token_endpoint, form, auth=auth, timeout=TIMEOUT_SECONDS, allow_redirects=False
            )
            answer = response.json()
        except requests.JSONDecodeError as error:
            raise LoginProblemError("away", f"The token endpoint answered {response.status_code}, no JSON.") from error
        except requests.RequestException as error:
            raise LoginProblemError("away", f"token endpoint: {type(error).__name__}") from error
        return response, answer if isinstance(answer, dict) else {}

    def _with_userinfo(self, claims: dict[str, Any], access_token: object) -> dict[str, Any]:
        """What the ID token does not say is asked for; what it says stays."""
        wanted = {"email", "email_verified", settings.OIDC_GROUPS_CLAIM.partition(".")[0]}
        if wanted <= set(claims) or not self.provider.userinfo_endpoint or not access_token:
            return claims
        address, bearer = self.provider.userinfo_endpoint, {"Authorization": f"Bearer {access_token}"}
        response = requests.get(address, headers=bearer, timeout=TIMEOUT_SECONDS, allow_redirects=False)
        if response.status_code != 200:
            raise LoginProblemError("away", f"The userinfo endpoint answered {response.status_code}.")
        more = response.json()
        if more["sub"] != claims["sub"]:
            raise LoginProblemError("token", "The userinfo is about somebody else.")
        return {**more, **claims}


def logout_address(*, id_token: str, back: str) -> str:
    """Where the provider ends its own session (RP-initiated logout); empty where it has no such place or does not answer."""
    try:
        place = discover().end_session_endpoint
    except LoginProblemError:
        return ""
    if not place:
        return ""
    asked = {"id_token_hint": id_token, "client_id": settings.OIDC_CLIENT_ID, "post_logout_redirect_uri": back}
    return f"{place}{'&' if '?' in place else '?'}{urlencode(asked)}"
