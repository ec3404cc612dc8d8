"""An OpenID Connect provider on this machine: discovery, keys, a login page, PKCE, codes that work once, signed tokens.

It does what a real one does; a test says with `claims`, `header` and the rest what should be wrong about the next token.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.listening import Listening

CLIENT, SECRET = "benchsite", "a-secret-of-the-client"


@cache
def key(name: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Provider:
    """One person is logged in there: `claims`. What is set on it holds until a test sets it again."""

    def __init__(self) -> None:
        self.server = Listening(Handler)
        self.server.provider = self
        self.issuer = f"{self.server.url}/realm"
        self.claims: dict = {"sub": "dora-17", "email": "dora@lab.example", "email_verified": True, "groups": []}
        self.token_claims: dict = {}  # what the token says instead
        self.algorithm, self.signing_key = "RS256", key("of the provider")
        self.discovery: dict = {}
        self.refuses = self.asks = False  # asks: a page with a button, for a browser
        self.wrong_secret = (401, "invalid_client")
        self.codes: dict[str, dict] = {}
        self.ended: list[dict] = []

    def stop(self) -> None:
        self.server.stop()

    def document(self) -> dict:
        places = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "keys",
            "userinfo_endpoint": "userinfo",
            "end_session_endpoint": "logout",
        }
        methods = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        return {
            "issuer": self.issuer,
            **{k: f"{self.issuer}/{v}" for k, v in places.items()},
            **methods,
            **self.discovery,
        }

    def keys(self) -> dict:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key("of the provider").public_key()))
        return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}

    def id_token(self, asked: dict) -> str:
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked.get("nonce")}
        claims = {k: v for k, v in {**self.claims, **usual, **self.token_claims}.items() if v is not None}
        signing_key = None if self.algorithm == "none" else self.signing_key
        return jwt.encode(claims, signing_key, algorithm=self.algorithm, headers={"kid": "one"})

    def exchange(self, form: dict) -> tuple[int, dict]:
        """RFC 6749 and 7636: the client's secret, a code that is known and new, its redirect, and the verifier."""
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, SECRET):
            status, error = self.wrong_secret
            return status, {"error": error}
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if not asked or asked["redirect_uri"] != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        if asked.get("code_challenge_method") != "S256" or asked["code_challenge"] != challenge.decode().rstrip("="):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "opens-userinfo", "token_type": "Bearer", "id_token": self.id_token(asked)}


class Handler(BaseHTTPRequestHandler):
    wbufsize = -1

    @property
    def provider(self) -> Provider:
        return self.server.provider

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = dict(parse_qsl(address.query))
        match address.path.removeprefix("/realm"):
            case "/.well-known/openid-configuration":
                self.answer(200, self.provider.document())
            case "/keys":
                self.answer(200, self.provider.keys())
            case "/userinfo" if self.headers.get("Authorization") == "Bearer opens-userinfo":
                self.answer(200, self.provider.claims)
            case "/authorize" if self.provider.asks and "consent" not in asked:
                fields = "".join(
                    f'<input type="hidden" name="{escape(k)}" value="{escape(v)}">' for k, v in asked.items()
                )
                page = f'<title>Provider</title><form>{fields}<button name="consent" value="1">Log in as Dora</button></form>'
                self.answer(200, page)
            case "/authorize":
                self.authorize(asked)
            case "/logout":
                self.provider.ended.append(asked)
                self.answer(200, "<title>Provider</title><h1>Logged out at the provider</h1>")
            case _:
                self.answer(404, {"error": "not_found"})

    def authorize(self, asked: dict) -> None:
        """RFC 6749, 4.1.2: back with a code, or with what went wrong."""
        back = {"state": asked["state"]}
        if self.provider.refuses:
            back["error"] = "access_denied"
        else:
            back["code"] = secrets.token_urlsafe(16)
            self.provider.codes[back["code"]] = asked
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(back)}")
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.answer(*self.provider.exchange(form))

    def answer(self, status: int, content: dict | str) -> None:
        is_page = isinstance(content, str)
        data = (content if is_page else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if is_page else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass
