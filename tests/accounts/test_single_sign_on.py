"""Single sign-on, against a provider that runs here and really signs: who gets in, as whom, and who does not."""

from __future__ import annotations

import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from accounts.models import Authenticator, Identity
from benchsite.operations.accounts import make_curator
from generation.models import Event
from judging.curating.invitations import create_invitations
from judging.models import Seat
from ranking.models import AnalystToken
from ranking.tokens import create_token
from tests.accounts.oidc_provider import Provider, key
from tests.judging import make

pytestmark = pytest.mark.django_db
PASSWORD = "four-wise-owls-hoot"


def arrive(client: Client, target: str = ""):
    """From our button to the provider, through its login, and back to us."""
    there = client.get("/login/provider/", {"next": target} if target else {})["Location"]
    back = requests.get(there, allow_redirects=False, timeout=10).headers["Location"]
    return client.get(back.removeprefix("http://testserver"))


def log_in(client: Client, target: str = ""):
    """To the end: somebody new creates an account."""
    answer = arrive(client, target)
    if answer.headers.get("Location") == "/login/provider/new/":
        answer = client.post("/login/provider/new/")
    return answer


def me(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def test_it_works_from_the_button_to_the_work_and_the_session_is_as_after_a_password(client, provider):
    button = client.get("/login/").text

    answer = log_in(client)

    assert "Log in with Example Lab" in button
    assert answer["Location"] == "/judge/" and client.get("/judge/").status_code == 200
    dora = me(client)
    assert (dora.username, dora.email, dora.is_staff, dora.has_usable_password()) == ("dora", "", False, False)
    assert Identity.objects.get().subject == "dora-17"
    assert "known-" in str(client.cookies) and 0 < client.session.get_expiry_age() <= 12 * 3600
    ends = client.session.get_expiry_date()
    client.get("/login/provider/")
    assert client.session.get_expiry_date() == ends, "what is kept in a session makes it no longer"
    assert Event.objects.filter(verb=Event.Verb.CREATE_ACCOUNT, actor=dora).count() == 1
    log_in(Client())
    assert User.objects.count() == 1, "the same person again"


def test_a_site_without_a_provider_has_no_button_and_no_such_page(client, settings):
    page = client.get("/login/").text

    assert "Log in with" not in page and settings.OIDC_ISSUER == ""
    assert client.get("/login/provider/").status_code == client.get("/login/provider/back/").status_code == 404


def test_the_request_has_state_nonce_and_a_challenge(client, provider):
    asked = parse_qs(urlsplit(client.get("/login/provider/")["Location"]).query)

    assert asked["code_challenge_method"] == ["S256"] and len(asked["code_challenge"][0]) == 43
    assert len(asked["state"][0]) == len(asked["nonce"][0]) == 32


def forged(provider: Provider):
    provider.signing_key = key("of somebody else")


def unsigned(provider: Provider):
    provider.algorithm = "none"


def signed_with_the_public_key(provider: Provider):
    """An HMAC, with what everybody can read as its key."""
    provider.algorithm, provider.signing_key = "HS256", provider.keys()["keys"][0]["n"]


def says(**claims):
    return lambda provider: provider.token_claims.update(claims)


@pytest.mark.parametrize(
    ("spoil", "words", "status"),
    [
        (forged, "cannot be trusted", 400),
        (unsigned, "cannot be trusted", 400),
        (signed_with_the_public_key, "cannot be trusted", 400),
        (says(aud="another-site"), "cannot be trusted", 400),
        (says(aud=["benchsite", "another-site"]), "cannot be trusted", 400),
        (says(azp="another-site"), "cannot be trusted", 400),
        (says(iss="https://elsewhere.example"), "cannot be trusted", 400),
        (says(nonce="of-another-login"), "cannot be trusted", 400),
        (says(nonce=None), "cannot be trusted", 400),
        (says(exp=None), "cannot be trusted", 400),
        (says(sub=""), "cannot be trusted", 400),
        (says(exp=time.time() - 3600), "has expired, or a clock is wrong", 400),
        (says(iat=time.time() + 3600), "has expired, or a clock is wrong", 400),
        (says(email_verified=False), "is not verified", 403),
        (says(email="dora@lab.example.evil.example"), "not among those", 403),
        (lambda provider: setattr(provider, "refuses", True), "did not let you in", 403),
        (lambda provider: provider.discovery.update(issuer="https://elsewhere.example"), "not set up correctly", 502),
        (lambda provider: provider.discovery.update(token_endpoint="http://lab.example/token"), "not set up", 502),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_trusted_lets_nobody_in_and_says_why(client, provider, spoil, words, status):
    spoil(provider)

    start = client.get("/login/provider/")
    answer = start if start.status_code == status else arrive(client)

    assert (answer.status_code, words in answer.text) == (status, True)
    assert me(client) is None and User.objects.count() == 0
    counts = words in ("cannot be trusted", "did not let you in")
    assert AccessAttempt.objects.count() == counts, "counted like a wrong password where somebody tries things out"
    key = client.session.session_key or "none"
    assert not AccessAttempt.objects.filter(username__contains=key[:8]).exists()


@pytest.mark.parametrize(
    "refusal",
    [(401, "invalid_client"), (400, "invalid_client"), (400, "unauthorized_client"), (401, "access_denied")],
)
def test_the_secret_is_sent_in_the_one_of_several_ways_that_the_provider_takes(client, provider, refusal):
    provider.wrong_secret = refusal
    provider.discovery = {"token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]}

    log_in(client)

    assert me(client).username == "dora", "by the second: this provider reads no header"


def test_a_provider_that_is_away_is_said_to_be(client, provider):
    provider.stop()

    answer = client.get("/login/provider/")

    assert answer.status_code == 503 and "Example Lab does not answer" in answer.text
    assert not AccessAttempt.objects.exists()


def test_a_code_and_a_state_work_once_and_in_their_own_browser(client, provider):
    there = client.get("/login/provider/")["Location"]
    back = requests.get(there, allow_redirects=False, timeout=10).headers["Location"].removeprefix("http://testserver")

    stolen = Client().get(back)
    first, again = client.get(back), client.get(back)

    assert (stolen.status_code, first.status_code, again.status_code) == (400, 302, 400)
    state = client.get("/login/provider/")["Location"].partition("state=")[2].partition("&")[0]
    code = back.partition("code=")[2]
    replayed = client.get(f"/login/provider/back/?state={state}&code={code}")
    assert replayed.status_code == 400 and "cannot be continued" in replayed.text


def test_guessing_is_stopped_like_guessing_passwords(client, provider, settings):
    settings.LOGIN_FAILURES_PER_ADDRESS = 3
    for _ in range(3):
        guesser = Client()
        guesser.get("/login/provider/")
        guesser.get("/login/provider/back/?state=x&code=y")

    assert client.get("/login/provider/back/?state=x&code=y").status_code == 429


@pytest.mark.parametrize(
    "page", ["/login/provider/new/", "/login/provider/back/?state=x", "/login/provider/back/?error=x"]
)
def test_a_picture_on_another_site_locks_nobody_out(client, provider, page):
    assert client.get(page).status_code == 400

    assert not AccessAttempt.objects.exists()


def test_an_account_is_never_taken_by_its_name_or_address(client, provider):
    root = User.objects.create_superuser("dora", email="dora@lab.example", password=PASSWORD)

    log_in(client)

    assert me(client).username == "dora-2" and me(client) != root and not me(client).is_staff


def test_an_account_is_linked_after_its_password_and_not_after_another(client, provider):
    dora = User.objects.create_user("old-dora", password=PASSWORD)
    arrive(client)

    wrong = client.post("/login/provider/new/", {"username": "old-dora", "password": "guess"})
    assert "No account has this name and password" in wrong.text and Identity.objects.count() == 0
    client.post("/login/provider/new/", {"username": "old-dora", "password": PASSWORD})

    assert me(client) == dora == Identity.objects.get().user
    assert Event.objects.filter(verb=Event.Verb.LINK_LOGIN, actor=dora).count() == 1


def test_a_password_alone_links_no_account_with_a_second_factor(client, provider):
    root = User.objects.create_superuser("root", password=PASSWORD)
    Authenticator.objects.create(user=root, sealed_secret="x")
    arrive(client)

    answer = client.post("/login/provider/new/", {"username": "root", "password": PASSWORD})

    assert "has a second factor" in answer.text and Identity.objects.count() == 0 and me(client) is None


def test_who_is_logged_in_links_with_the_password_and_unlinks(client, provider):
    dora = User.objects.create_user("old-dora", password=PASSWORD)
    client.post("/login/", {"username": "old-dora", "password": PASSWORD})

    arrive(client)
    assert Identity.objects.count() == 0, "a session alone links nothing"
    client.post("/account/link/", {"password": "guess"})
    assert "sso_linking" not in client.session
    assert "Continue to Example Lab" in client.post("/account/link/", {"password": PASSWORD}).text
    arrive(client)

    assert Identity.objects.get().user == dora == me(client)
    client.post("/account/unlink/")
    assert Identity.objects.count() == 0


def test_an_operator_links_an_account(client, provider):
    dora = User.objects.create_user("old-dora")

    call_command("link_login", "old-dora", "dora-17")
    log_in(client)

    assert me(client) == dora
    with pytest.raises(CommandError, match="linked already"):
        call_command("link_login", "old-dora", "another")
    call_command("link_login", "old-dora", "--remove")
    assert Identity.objects.count() == 0


def test_who_has_no_password_here_is_offered_no_second_factor_after_it(client, provider, settings):
    settings.OIDC_ROLES = {"bench-curators": "curator"}
    provider.claims["groups"] = ["bench-curators"]
    log_in(client)

    assert "Second factor" not in client.get("/password/").text, "that is the provider's"


def test_groups_give_roles_and_take_them_away_again(client, provider, settings):
    settings.OIDC_ROLES = {"bench-admins": "admin", "bench-curators": "curator", "bench-readers": "analyst"}
    settings.OIDC_GROUPS_CLAIM = "realm.roles"
    provider.claims["realm"] = {"roles": ["bench-curators", "bench-readers", "others"]}
    log_in(client)
    dora = me(client)
    assert (dora.is_staff, dora.is_superuser) == (True, False) and client.get("/runs/").status_code == 200
    client.post("/account/token/")
    assert AnalystToken.objects.get().revoked_at is None

    provider.claims["realm"] = {"roles": ["others"]}
    log_in(Client())

    dora.refresh_from_db()
    assert (dora.is_staff, dora.is_superuser, AnalystToken.objects.get().revoked_at is None) == (False, False, False)
    assert client.get("/runs/").status_code == 403, "at once, in the sessions that stand too"
    roles = Event.objects.filter(verb__in=(Event.Verb.GIVE_ROLE, Event.Verb.TAKE_ROLE)).values_list(
        "subject", flat=True
    )
    assert sorted(roles) == ["dora: analyst", "dora: analyst", "dora: curator", "dora: curator"]


def test_roles_that_were_given_here_stay(client, provider, settings):
    settings.OIDC_ROLES = {"bench-admins": "admin"}
    root = User.objects.create_superuser("root", password=PASSWORD)
    call_command("link_login", "root", "dora-17")

    log_in(client)

    root.refresh_from_db()
    assert root.is_superuser and me(client) == root


def test_a_role_from_the_provider_needs_a_login_there(client, provider, settings):
    settings.OIDC_ROLES = {"bench-curators": "curator"}
    provider.claims["groups"] = ["bench-curators"]
    dora = User.objects.create_user("old-dora", password=PASSWORD)
    credentials = {"username": "old-dora", "password": PASSWORD}
    client.post("/login/", credentials)
    call_command("link_login", "old-dora", "dora-17")
    there = Client()
    log_in(there)
    assert me(there) == dora and there.get("/runs/").status_code == 200

    assert client.get("/runs/").status_code == 302, "a password's session from before the role"
    for page in ("/login/", "/admin/login/"):
        other = Client()
        assert "Log in with Example Lab." in other.post(page, credentials).text and me(other) is None


def test_tokens_end_with_the_role_of_whoever_created_them(client, provider, settings):
    settings.OIDC_ROLES = {"bench-curators": "curator"}
    provider.claims["groups"] = ["bench-curators"]
    log_in(client)
    given = {"by": me(client), "role": "curate", "expires_at": now() + timedelta(days=300)}
    headers = {"Authorization": f"Bearer {create_token(label='nightly', **given)[1]}"}
    statuses = []
    for age in (timedelta(days=6), timedelta(days=8), timedelta(0)):
        Identity.objects.update(last_login_at=now() - age)
        statuses.append(Client().get("/api/v1/runs", headers=headers).status_code)
    assert statuses == [200, 403, 200]

    provider.claims["groups"] = []
    log_in(client)

    assert Client().get("/api/v1/runs", headers=headers).status_code == 401
    assert Event.objects.filter(verb=Event.Verb.REVOKE_ANALYST_TOKEN, subject="nightly").count() == 1


def test_a_curator_by_the_staff_tick_stays_one_when_the_provider_says_analyst(client, provider, settings):
    settings.OIDC_ROLES = {"bench-readers": "analyst"}
    provider.claims["groups"] = ["bench-readers"]
    User.objects.create_user("old-dora", is_staff=True)
    call_command("link_login", "old-dora", "dora-17")

    log_in(client)
    provider.claims["groups"] = []
    log_in(client)

    assert me(client).is_staff


def test_who_was_an_analyst_judges_without_counting(client, provider, settings, no_waiting):
    settings.OIDC_ROLES = {"bench-readers": "analyst"}
    provider.claims["groups"] = ["bench-readers"]
    log_in(client)
    client.post("/account/token/")
    assert AnalystToken.objects.get().expires_at < now() + timedelta(days=91)
    provider.claims["groups"] = []
    log_in(client)
    invitation = create_invitations(run=make.make_run(), by=make.make_curator(), count=1, days=7)[0]

    client.post(f"/join/{invitation.token}/")

    seat = Seat.objects.get()
    assert (seat.weight, "was an analyst" in seat.excluded_reason) == (0.0, True)


def test_who_was_a_curator_judges_without_counting(client, provider, settings, no_waiting):
    settings.OIDC_ROLES = {"bench-curators": "curator"}
    provider.claims["groups"] = ["bench-curators"]
    log_in(client)
    run = make.make_run()
    provider.claims["groups"] = []
    log_in(client)
    invitation = create_invitations(run=run, by=make.make_curator(), count=1, days=7)[0]

    client.post(f"/join/{invitation.token}/")

    seat = Seat.objects.get()
    assert (seat.judge, seat.weight, "could have seen names" in seat.excluded_reason) == (me(client), 0.0, True)


def test_without_domains_and_roles_an_invitation_is_the_way_in_and_it_joins_the_run(client, provider, settings):
    settings.OIDC_DOMAINS = []
    run = make.make_run()
    invitation = create_invitations(run=run, by=make.make_curator(), count=1, days=7)[0]

    stranger = log_in(Client())
    page = client.get(f"/join/{invitation.token}/").text
    answer = log_in(client, f"/join/{invitation.token}/")
    client.post(answer["Location"])

    assert stranger.status_code == 403 and "no access to this site yet" in stranger.text
    assert "Log in with" in page and answer["Location"] == f"/join/{invitation.token}/"
    assert Seat.objects.get().judge == me(client)
    assert log_in(Client()).status_code == 302, "who has joined comes back without a link"


def test_a_closed_account_stays_closed(client, provider):
    log_in(Client())
    User.objects.update(is_active=False)

    answer = log_in(client)

    assert answer.status_code == 403 and "This account is closed" in answer.text and me(client) is None


def test_logging_out_ends_the_session_at_the_provider_too(client, provider):
    log_in(client)

    page = client.post("/logout/")

    place = urlsplit(page.context["address"])
    asked = parse_qs(place.query)
    assert f"{place.scheme}://{place.netloc}{place.path}" == f"{provider.issuer}/logout"
    assert asked["post_logout_redirect_uri"] == ["http://testserver/"] and len(asked["id_token_hint"][0]) > 100
    assert me(client) is None


def test_without_passwords_none_opens_anything_and_an_operator_still_gets_in(client, provider, settings, capsys):
    settings.LOCAL_PASSWORDS = False
    User.objects.create_superuser("root", password=PASSWORD)
    for page in ("/login/", "/admin/login/"):
        client.post(page, {"username": "root", "password": PASSWORD})
        assert me(client) is None
    assert 'name="password"' not in client.get("/login/").text
    assert client.get("/reset/x/y/").status_code == 404

    call_command("emergency_login", "root")
    code = capsys.readouterr().out.strip()
    wrong = client.post("/login/emergency/", {"code": code[:-1] + ("a" if code[-1] != "a" else "b")})
    assert "wrong, was used" in wrong.text and me(client) is None
    client.post("/login/emergency/", {"code": code})

    assert me(client).username == "root" and client.get("/admin/").status_code == 200
    assert "wrong, was used" in Client().post("/login/emergency/", {"code": code}).text
    assert Event.objects.filter(verb=Event.Verb.EMERGENCY_LOGIN).count() == 2


def test_with_passwords_there_is_no_emergency_code(client, db):
    make_curator(User.objects.create_user("carol"))

    assert client.get("/login/emergency/").status_code == 404
    with pytest.raises(CommandError, match="Passwords are on"):
        call_command("emergency_login", "carol")
