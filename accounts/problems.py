"""Why a login at the provider did not work, in words for whoever tried it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """What the page says: a heading, what happened with the way out, and the status it is sent with."""

    title: str
    text: str
    status: int = 403


PROBLEMS = {
    "away": Problem(
        "{name} does not answer",
        "The login service is unavailable or too slow. Try again in a minute. If it lasts, tell the people who run this site.",
        503,
    ),
    "misconfigured": Problem(
        "Logging in with {name} is not set up correctly",
        "The login service did not accept this site, or described itself wrongly. Only the people who run this site can"
        " fix it; its log says what is wrong.",
        502,
    ),
    "refused": Problem(
        "{name} did not let you in",
        "The login was cancelled or refused there. Try again, or ask whoever manages your account there.",
    ),
    "state": Problem(
        "This login cannot be continued",
        "It was started in another browser, was finished already, or took longer than ten minutes. Start again.",
        400,
    ),
    "clock": Problem(
        "The login has expired, or a clock is wrong",
        "What the login service sent has expired or is not valid yet. Start again without a pause. If it happens again,"
        " the clock of this site or of the login service is wrong: tell the people who run this site.",
        400,
    ),
    "token": Problem(
        "What {name} sent cannot be trusted",
        "It was not meant for this site, or its signature is wrong. Start again. If it happens again, tell the people"
        " who run this site.",
        400,
    ),
    "unverified": Problem(
        "Your e-mail address is not verified",
        "This site admits certain e-mail domains only, and {name} has not verified your address. Verify it there, then"
        " log in again.",
    ),
    "domain": Problem(
        "Your e-mail address is not among those that this site admits",
        "Log out at {name}, and log in with an address of your organisation.",
    ),
    "uninvited": Problem(
        "You have no access to this site yet",
        "Open the link of your invitation, and log in from there; or ask the people who run this site for a role.",
    ),
    "inactive": Problem(
        "This account is closed", "Ask the people who run this site if you think that this is a mistake."
    ),
    "taken": Problem(
        "This login belongs to another account",
        "Somebody here is linked with it already, or your account with another login. Log out and log in with {name}.",
    ),
}

# What somebody who tries things out would meet, in a session that began a login; not what no visitor can help, nor what a
# picture on another site could ask for in a visitor's name.
COUNTED = ("token", "refused")


class LoginProblemError(Exception):
    """Carries a key of PROBLEMS, what the log should say, and whether it counts like a wrong password."""

    def __init__(self, key: str, detail: str = "", *, counts: bool = False) -> None:
        super().__init__(f"{key}: {detail}" if detail else key)
        self.key, self.detail = key, detail
        self.counts = counts or key in COUNTED
