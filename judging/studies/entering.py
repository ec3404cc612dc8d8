"""Verbs: who comes by a link, and the place that they take. One place for each id, however often its link is opened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from secrets import choice
from time import time

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils.crypto import salted_hmac
from django.utils.timezone import now
from django.utils.translation import gettext as _

from benchsite.lib.text import clean_text
from generation.models import Run
from generation.suites.studies.study import Study as Content
from judging.models import Participation, Study
from judging.models.studies import hashed_id
from judging.studies.walking import end_participation, has_judged, settle
from judging.studies.writing import content_of, newest_version

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@~-]{0,79}")
NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"  # what Mechanical Turk sends to who only looks
LONGEST_PARAMETER = 200
TAKEN = (Participation.Outcome.RUNNING, Participation.Outcome.DONE)


@dataclass(frozen=True)
class Visitor:
    """Who a link says has come; nobody in particular where the study has no platform."""

    external_id: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


class EntryError(Exception):
    """Why somebody cannot come in, as the title and the sentence of a page; or the outcome that they have met."""

    def __init__(self, title: str = "", sentence: str = "", *, status: int = 400, outcome: str = "") -> None:
        super().__init__(sentence)
        self.title, self.sentence, self.status, self.outcome = title, sentence, status, outcome


def read_visitor(content: Content, query: Mapping[str, str]) -> Visitor:
    """The platform's parameters in a link; EntryError where its id is no id."""
    platform = content.platform
    if platform is None:
        return Visitor()
    external = query.get(platform.id, "").strip()
    others = {name: clean_text(query[name][:LONGEST_PARAMETER])[0] for name in platform.others if query.get(name)}
    if NOT_ACCEPTED in others.values():
        sentence = _("This is a preview. Accept the task on %(platform)s; then this link lets you in.")
        raise EntryError(_("Accept the task first"), sentence % {"platform": platform.name})
    if external and not ID.fullmatch(external):
        sentence = _(
            "Its participant id (%(id)s) is not one that %(platform)s gives. Open the study from %(platform)s again; if "
            "that does not help, write to the people who run the study."
        )
        raise EntryError(_("This link is damaged"), sentence % {"platform": platform.name, "id": platform.id})
    return Visitor(external, others)


def present(study: Study, visitor: Visitor) -> Participation | None:
    """The participation of a platform's id, if there is one; one that was erased is known by its hash."""
    if not visitor.external_id:
        return None
    return study.participations.filter(_is_of(study, visitor)).first()


def _is_of(study: Study, visitor: Visitor) -> Q:
    return Q(external_id=visitor.external_id) | Q(erased_id=hashed_id(study.run.code, visitor.external_id))


def refuse_second_seat(study: Study, content: Content, visitor: Visitor) -> None:
    """EntryError for an id of the same platform that judges, or has judged, in another study of the run."""
    if content.platform is None or not visitor.external_id:
        return
    elsewhere = Participation.objects.filter(_is_of(study, visitor), study__run=study.run_id).exclude(study=study)
    judging = elsewhere.filter(Q(seat__isnull=False) | Q(outcome=Participation.Outcome.RUNNING))
    if judging.filter(version__content__platform__id=content.platform.id).exists():
        sentence = _(
            "Your %(platform)s id is in another study of the same drawings, and each person judges them once. Please "
            "return this study on %(platform)s. Thank you for your interest."
        )
        names = {"platform": content.platform.name}
        raise EntryError(_("You have taken part already"), sentence % names, status=409)


def hashed_address(address: str, *, hours_ago: int = 0) -> str:
    """What is kept of an address: with the hour and the site's key, so that it says nothing later. Of IPv6 the network."""
    known = ip_address(address) if address else None
    if known is None:
        return ""
    if isinstance(known, IPv6Address):
        network = known.ipv4_mapped or ip_network((known, 64), strict=False)
        address = str(network)
    hour = int(time()) // 3600 - hours_ago
    return salted_hmac("judging.entry", f"{hour} {address}", algorithm="sha256").hexdigest()[:32]


def refuse_crowding(study: Study, content: Content, address: str) -> None:
    """EntryError where too many newcomers came from one address within this hour and the last, to any study of the run."""
    if not address:
        return
    most = content.per_address or (settings.ARENA_ENTRIES_AN_HOUR if content.arena else settings.STUDY_ENTRIES_AN_HOUR)
    known = [hashed_address(address, hours_ago=hours) for hours in (0, 1)]
    if Participation.objects.filter(study__run=study.run_id, address__in=known).count() >= most:
        sentence = _("Many people have come from your network within the last hour. Please try again later.")
        raise EntryError(_("Please come back later"), sentence, status=429)


def check_entry(study: Study, content: Content, visitor: Visitor, *, address: str = "") -> None:
    """EntryError where a newcomer cannot come in now."""
    if content.platform and not visitor.external_id:
        sentence = _(
            "Open the study from %(platform)s: its link carries your id (%(id)s), and without it nobody could tell that "
            "you took part."
        )
        names = {"platform": content.platform.name, "id": content.platform.id}
        raise EntryError(_("Your participant id is missing"), sentence % names)
    if study.state == Study.State.PAUSED or study.run.judging_state == Run.Judging.PAUSED:
        sentence = _("Please come back later; the same link will work.")
        raise EntryError(_("This study is paused"), sentence, status=503)
    if study.state != Study.State.OPEN or study.run.judging_state != Run.Judging.OPEN:
        sentence = _("It takes no participants now. Thank you for your interest.")
        raise EntryError(_("This study is not open"), sentence, status=410)
    refuse_second_seat(study, content, visitor)
    refuse_crowding(study, content, address)
    if content.places is not None:
        free_overdue(study)
        if places_taken(study) >= content.places:
            raise EntryError(outcome="study_full", status=410)


def places_taken(study: Study) -> int:
    return study.participations.filter(outcome__in=TAKEN).count()


@transaction.atomic
def enter_study(*, study: Study, visitor: Visitor, code: str, name: str = "", address: str = "") -> Participation:
    """The visitor's participation, a new one where there is none. `code` is the form's own: sent twice, it counts once.

    The studies of the run are locked, so that the last place is given once, and one seat to an id.
    """
    locked = Study.objects.select_for_update(of=("self",), no_key=True).select_related("run").defer("run__config")
    study = next(each for each in locked.filter(run=study.run_id).order_by("pk") if each.pk == study.pk)
    mine = present(study, visitor) or study.participations.filter(code=code).first()
    if mine:
        return mine
    version = newest_version(study)
    content = content_of(version)
    check_entry(study, content, visitor, address=address)
    guest = User.objects.create(username=f"guest-{code}", password=make_password(None))
    return Participation.objects.create(
        code=code,
        study=study,
        version=version,
        guest=guest,
        external_id=visitor.external_id,
        parameters=visitor.parameters,
        address=hashed_address(address),
        name=name if content.ask_name else "",
        arm=_smallest_arm(study, content),
    )


def _smallest_arm(study: Study, content: Content) -> str:
    """The arm that the fewest are in who judge or have judged; among equals chance decides. The study is locked meanwhile."""
    taken = Counter(study.participations.filter(outcome__in=TAKEN).values_list("arm", flat=True))
    fewest = min((taken[arm.name] for arm in content.arms), default=0)
    return choice([arm.name for arm in content.arms if taken[arm.name] == fewest] or [""])


def is_overdue(participation: Participation, content: Content) -> bool:
    """Whether the time is up for somebody who has not judged all of their pairs."""
    if participation.outcome != Participation.Outcome.RUNNING or has_judged(participation):
        return False
    return bool(_late(content, Participation.objects.filter(pk=participation.pk)))


def _late(content: Content, running: QuerySet[Participation]) -> list[Participation]:
    """Those who took too long, or did nothing for too long: no step, answer or vote; `idle` says which."""
    if content.minutes is None and content.idle_minutes is None:
        return []
    moment, never = now(), datetime(1970, 1, 1, tzinfo=UTC)
    seen = [Coalesce(field, F("started_at")) for field in (Max("steps__entered_at"), Max("steps__passed_at"))]
    seen += [Coalesce(Max("answers__answered_at"), F("started_at")), Coalesce(F("seat__last_vote_at"), F("started_at"))]
    begun, idle = (
        moment - timedelta(minutes=minutes) if minutes else never for minutes in (content.minutes, content.idle_minutes)
    )
    rows = running.annotate(seen_at=Greatest(*seen)).filter(Q(started_at__lt=begun) | Q(seen_at__lt=idle))
    return list(rows.select_related("seat").defer("seat__plan"))


def free_overdue(study: Study) -> int:
    """Time out all whose time is up, and so free their places; says how many."""
    ended = 0
    limited = Q(content__minutes__gt=0) | Q(content__idle_minutes__gt=0)
    for version in study.versions.filter(limited):
        content = content_of(version)
        for participation in _late(content, version.participations.filter(outcome=Participation.Outcome.RUNNING)):
            if not has_judged(participation):
                ended += time_out(participation, content)
    return ended


def time_out(participation: Participation, content: Content) -> bool:
    """End the part of somebody whose time is up, and say which clock ended it."""
    long = content.minutes is not None and now() - participation.started_at > timedelta(minutes=content.minutes)
    reason = "" if long else f"nothing done for {content.idle_minutes} minutes"
    return end_participation(participation, Participation.Outcome.TIMED_OUT, reason=reason)


def free_places() -> int:
    """The same in every study that somebody is in: what the clock does."""
    studies = Study.objects.filter(participations__outcome=Participation.Outcome.RUNNING).distinct()
    ended = Participation.objects.filter(outcome=Participation.Outcome.RUNNING, seat__ended_at__isnull=False)
    # Who failed the checks and closed the page: the seat has ended, and nobody came for the text.
    failed = sum(settle(row) is None for row in ended.select_related("seat", "version").defer("seat__plan"))
    return failed + sum(free_overdue(study) for study in studies)
