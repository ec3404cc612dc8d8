"""What judges were shown, and what they said."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now

from generation.models import CodeField, Entrant, Prompt, Run, Sample


def new_token() -> str:
    return secrets.token_urlsafe(24)


def new_seed() -> int:
    return secrets.randbelow(2**31)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self) -> InvitationQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=now(), uses__lt=F("max_uses"))


class Invitation(models.Model):
    """A link that lets somebody become a judge of one run; the only way to sign up."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=40, default=new_token, unique=True, editable=False)
    label = models.CharField(max_length=120, blank=True)
    quota = models.PositiveIntegerField(null=True, blank=True)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=F("max_uses")), name="judging_invitation_not_overused")
        ]

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"

    @property
    def state(self) -> str:
        if self.revoked_at:
            return "revoked"
        if self.uses >= self.max_uses:
            return "used"
        return "expired" if self.expires_at <= now() else "open"


class Epoch(models.Model):
    """A stretch of a run with the same eligible samples; made once, never changed. Balance is promised within one."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="epochs")
    number = models.PositiveIntegerField()
    seed = models.BigIntegerField(default=new_seed)
    table = models.JSONField(help_text="The eligible drawings, as judging.table.Table.")
    fingerprint = models.CharField(max_length=64)
    checked_at = models.DateTimeField(default=now, help_text="When the samples were last compared with the table.")
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="judging_epoch_number_once_a_run")]

    def __str__(self) -> str:
        return f"epoch {self.number}"


class Seat(models.Model):
    """A judge in a run: the place in the schedule, progress, and the judge's weight in the ranking.

    `version` is raised by every change of the place or the progress, so that of two requests at once only one takes effect.
    A seat without a judge holds votes that were imported; `is_unknown` marks the one whose votes name nobody.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="seats")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="seats")
    pseudonym = models.CharField(max_length=120)
    is_unknown = models.BooleanField(default=False)
    is_simulated = models.BooleanField(default=False, help_text="Votes come from `simulate_judges`, not from a person.")
    invitation = models.ForeignKey(Invitation, models.SET_NULL, null=True, blank=True, related_name="seats")
    quota = models.PositiveIntegerField(null=True, blank=True)
    weight = models.FloatField(
        default=1.0, help_text="How much a vote of this judge counts, 0 to 1; 0 keeps the votes out of the ranking."
    )
    excluded_reason = models.CharField(max_length=300, blank=True)
    joined_at = models.DateTimeField(default=now)

    epoch = models.ForeignKey(Epoch, models.RESTRICT, null=True, blank=True, related_name="seats")
    plan = models.JSONField(default=dict, blank=True)
    served = models.PositiveIntegerField(default=0, help_text="Items so far in this epoch.")
    regular = models.PositiveIntegerField(default=0, help_text="Next number in the judge's own plan.")
    shared = models.PositiveIntegerField(default=0, help_text="Next number in the shared sequence.")
    repeats = models.PositiveIntegerField(default=0)
    last_pair = models.JSONField(null=True, blank=True)

    made = models.PositiveIntegerField(default=0, help_text="Matchups ever made; the next one's order.")
    void = models.PositiveIntegerField(default=0)
    voted = models.PositiveIntegerField(default=0, help_text="Standing votes.")
    last_vote_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judge"], condition=Q(judge__isnull=False), name="judging_seat_judge_once_a_run"
            ),
            models.UniqueConstraint(fields=["run", "pseudonym"], name="judging_seat_pseudonym_once_a_run"),
            models.CheckConstraint(
                condition=Q(weight=1) | (Q(weight__gte=0, weight__lt=1) & ~Q(excluded_reason="")),
                name="judging_seat_exclusion_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym


class Kind(models.TextChoices):
    """Why an item was shown; a repeat never enters a rating."""

    REGULAR = "regular", "regular"
    SHARED = "shared", "shared"
    REPEAT = "repeat", "repeat"


class Matchup(models.Model):
    """Two samples of one prompt, as one judge was or will be shown them.

    - queued: next in line; open: on the judge's screen, at most one; voted; void: reported or no longer showable.
    - Imported votes have matchups too; where the file names no prompt or attempt, there is none here.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        OPEN = "open", "open"
        VOTED = "voted", "voted"
        VOID = "void", "void"

    code = CodeField()
    run = models.ForeignKey(Run, models.CASCADE, related_name="matchups")
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="matchups")
    epoch = models.ForeignKey(Epoch, models.RESTRICT, null=True, blank=True, related_name="+")
    order = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.REGULAR)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    prompt = models.ForeignKey(Prompt, models.RESTRICT, null=True, blank=True, related_name="+")
    category = models.CharField(max_length=80, blank=True)
    left = models.ForeignKey(Entrant, models.RESTRICT, related_name="+")
    right = models.ForeignKey(Entrant, models.RESTRICT, related_name="+")
    left_sample = models.ForeignKey(Sample, models.RESTRICT, null=True, blank=True, related_name="+")
    right_sample = models.ForeignKey(Sample, models.RESTRICT, null=True, blank=True, related_name="+")
    key = models.CharField(max_length=32, blank=True, help_text="The two drawings, whatever their sides.")
    repeat_of = models.OneToOneField("self", models.RESTRICT, null=True, blank=True, related_name="repeat")
    created_at = models.DateTimeField(default=now)
    opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["seat"], condition=Q(state="open"), name="judging_matchup_one_open"),
            models.UniqueConstraint(fields=["seat", "order"], name="judging_matchup_order_once_a_judge"),
            models.UniqueConstraint(
                fields=["seat", "key"],
                condition=~Q(kind="repeat") & ~Q(key=""),
                name="judging_matchup_drawings_meet_once",
            ),
            models.CheckConstraint(condition=~Q(left=F("right")), name="judging_matchup_two_entrants"),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "open", "voted", "void"]), name="judging_matchup_known_state"
            ),
        ]
        indexes = [
            # For the matchups in line. SQLite uses no partial index where values are bound, so this one is whole.
            models.Index(fields=["seat", "state", "order"], name="judging_matchup_in_line"),
            # For the question whether two drawings have met before this judge.
            models.Index(fields=["seat", "key"], name="judging_matchup_met"),
        ]

    def __str__(self) -> str:
        return f"matchup {self.code}"


class Outcome(models.TextChoices):
    LEFT = "left", "left is better"
    RIGHT = "right", "right is better"
    TIE = "tie", "both are good"
    FAIL = "fail", "both are bad"


class VoteQuerySet(models.QuerySet["Vote"]):
    def standing(self) -> VoteQuerySet:
        """Not taken back by the judge; some may be on drawings that a curator excluded since."""
        return self.filter(withdrawn_at=None)

    def rated(self) -> VoteQuerySet:
        """Standing, and cast by somebody who could not know the names: what the tallies count."""
        return self.standing().filter(kept_out=False)

    def counting(self, run: Run) -> VoteQuerySet:
        """The rated votes of a run on drawings that no curator excluded, repeats included."""
        excluded = run.samples.excluded().order_by().values("id")
        on_excluded = Q(matchup__left_sample__in=excluded) | Q(matchup__right_sample__in=excluded)
        return self.rated().filter(run=run).exclude(on_excluded)

    def without_repeats(self) -> VoteQuerySet:
        return self.exclude(matchup__kind=Kind.REPEAT)


class Vote(models.Model):
    """What one judge said about one matchup. Never edited, only withdrawn."""

    matchup = models.ForeignKey(Matchup, models.RESTRICT, related_name="votes")
    run = models.ForeignKey(Run, models.CASCADE, related_name="votes")
    seat = models.ForeignKey(Seat, models.RESTRICT, related_name="votes")
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    voted_at = models.DateTimeField(default=now)
    response_ms = models.PositiveIntegerField(null=True, blank=True)
    unblind = models.BooleanField(
        default=False, help_text="Names were shown after each vote of this run, or could be known before this one."
    )
    kept_out = models.BooleanField(
        default=False, help_text="The judge could know the names of this run's drawings: it counts in no rating."
    )
    imported = models.BooleanField(default=False)
    # Bit n - 1 is set where the judge marked "breaks in font n".
    left_breaks = models.PositiveSmallIntegerField(default=0)
    right_breaks = models.PositiveSmallIntegerField(default=0)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = VoteQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["matchup"], condition=Q(withdrawn_at__isnull=True), name="judging_vote_one_standing"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=["left", "right", "tie", "fail"]), name="judging_vote_known_outcome"
            ),
            models.CheckConstraint(
                condition=Q(left_breaks__lte=7, right_breaks__lte=7), name="judging_vote_three_fonts"
            ),
        ]
        indexes = [
            # For undo and the judge's history: own votes, the newest first.
            models.Index(F("seat").asc(), F("id").desc(), name="judging_vote_of_judge"),
            # For votes per hour on the curator's page, and for exports in order.
            models.Index(fields=["run", "voted_at"], name="judging_vote_by_time"),
            # For the number of votes kept out, which every fit states.
            models.Index(fields=["run"], condition=Q(kept_out=True), name="judging_vote_kept_out"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} on {self.matchup_id}"


class Report(models.Model):
    """A judge's word that a drawing should not be judged; a curator decides."""

    class Reason(models.TextChoices):
        BROKEN = "broken", "broken: it does not show properly"
        SIGNED = "signed", "signed: it says who drew it"
        OFFENSIVE = "offensive", "offensive"

    class Side(models.TextChoices):
        LEFT = "left", "left"
        RIGHT = "right", "right"
        BOTH = "both", "both"

    matchup = models.ForeignKey(Matchup, models.RESTRICT, related_name="reports")
    side = models.CharField(max_length=5, choices=Side.choices)
    reason = models.CharField(max_length=10, choices=Reason.choices)
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=now)
    decision = models.CharField(max_length=60, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.reason} on {self.matchup_id}"


class JudgeTally(models.Model):
    """Rated votes counted by judge, category and entrants, sides as shown; repeats apart.

    Kept in the vote's own transaction by `judging.pairs.tallies`; equal to a GROUP BY of the rated votes at every commit.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="judge_tallies")
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="tallies")
    category = models.CharField(max_length=80, blank=True)
    left = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    right = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    is_repeat = models.BooleanField(default=False)
    votes = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "judge tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["run", "seat", "category", "left", "right", "outcome", "is_repeat"],
                name="judging_judgetally_once",
            ),
            models.CheckConstraint(condition=Q(votes__gte=0), name="judging_judgetally_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.votes} × {self.outcome}"


class PromptTally(models.Model):
    """Rated votes counted by prompt, judge's activity and entrants, sides as shown; repeats apart.

    Votes without a prompt are left out. Very active judges weigh less a vote, so counts are kept by the class of activity.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="prompt_tallies")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="+")
    left = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    right = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=5, choices=Outcome.choices)
    is_repeat = models.BooleanField(default=False)
    activity = models.SmallIntegerField(
        default=0,
        help_text="Class of the judge: 2 to its power is the largest such number within the judge's votes; "
        "-1 is an unknown judge.",
    )
    votes = models.IntegerField(default=0)

    class Meta:
        verbose_name_plural = "prompt tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["run", "prompt", "left", "right", "outcome", "is_repeat", "activity"],
                name="judging_prompttally_once",
            ),
            models.CheckConstraint(condition=Q(votes__gte=0), name="judging_prompttally_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.votes} × {self.outcome}"


class GradeSheet(models.Model):
    """A judge's list of drawings to grade in one run, and how far it has come.

    `steps` is raised by every change, so that of two requests at once only one takes effect, and an undo happens once.
    """

    seat = models.OneToOneField(Seat, models.CASCADE, related_name="sheet")
    seed = models.BigIntegerField(default=new_seed)
    items = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0, help_text="Drawings graded on every dimension.")
    steps = models.PositiveIntegerField(default=0)
    last_graded_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"grades of {self.seat}"


class GradeItem(models.Model):
    """One drawing on a judge's list. Its code stands for the drawing on that judge's pages and nowhere else."""

    code = CodeField()
    seat = models.ForeignKey(Seat, models.CASCADE, related_name="grade_items")
    sample = models.ForeignKey(Sample, models.RESTRICT, related_name="+")
    stage = models.CharField(max_length=80)
    order = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.REGULAR)
    note = models.CharField(max_length=500, blank=True)
    graded_at = models.DateTimeField(null=True, blank=True, help_text="When the last of its dimensions got a grade.")
    reason = models.CharField(
        max_length=10, choices=Report.Reason.choices, blank=True, help_text="Why it was reported."
    )
    reported_at = models.DateTimeField(null=True, blank=True)
    decision = models.CharField(max_length=60, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["seat", "order"], name="judging_gradeitem_order_once_a_judge"),
            models.UniqueConstraint(fields=["seat", "sample"], name="judging_gradeitem_drawing_once_a_judge"),
        ]
        indexes = [
            # For the next drawing in line, of the few that are not graded.
            models.Index(
                fields=["seat", "order"],
                condition=Q(graded_at__isnull=True, reported_at__isnull=True),
                name="judging_gradeitem_in_line",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.code}"


class GradeQuerySet(models.QuerySet["Grade"]):
    def standing(self) -> GradeQuerySet:
        return self.filter(withdrawn_at=None)

    def rated(self) -> GradeQuerySet:
        """Standing, and given by somebody who could not know the names."""
        return self.standing().filter(kept_out=False)


class Grade(models.Model):
    """What one judge gave one drawing on one dimension. Never edited: a change withdraws it and adds another."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="grades")
    seat = models.ForeignKey(Seat, models.RESTRICT, related_name="grades")
    sample = models.ForeignKey(Sample, models.RESTRICT, related_name="grades")
    dimension = models.CharField(max_length=80)
    value = models.FloatField()
    replaces = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    kept_out = models.BooleanField(
        default=False, help_text="The judge could know the names of this run's drawings: it counts in no rating."
    )
    imported = models.BooleanField(default=False)
    graded_at = models.DateTimeField(default=now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = GradeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["sample", "seat", "dimension"],
                condition=Q(withdrawn_at__isnull=True),
                name="judging_grade_one_standing",
            ),
            models.CheckConstraint(condition=Q(value__gte=0, value__lte=10), name="judging_grade_on_scale"),
        ]
        indexes = [
            # For undo: own grades, the newest first.
            models.Index(F("seat").asc(), F("id").desc(), name="judging_grade_of_judge"),
            # For a run's leaderboard, and for exports in order.
            models.Index(fields=["run", "graded_at"], name="judging_grade_by_time"),
            models.Index(fields=["run"], condition=Q(kept_out=True), name="judging_grade_kept_out"),
        ]

    def __str__(self) -> str:
        return f"{self.value:g} for {self.dimension}"


class PublicState(models.Model):
    """What everybody but curators sees of a run's standings while people judge it; never edited. See docs/judging.md.

    `upto` is the newest judgement that it may contain: undoing one of these does not bring its drawings back.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="public_states")
    protocol = models.CharField(max_length=20)
    number = models.PositiveIntegerField()
    standings = models.JSONField(help_text="Entrant, rank, score, low and high, blurred; the best first.")
    votes = models.PositiveIntegerField(help_text="What the scores rest on.")
    simulated = models.PositiveIntegerField(default=0, help_text="Judges among them that are no people.")
    upto = models.BigIntegerField()
    read_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "protocol", "number"], name="judging_publicstate_number_once")
        ]

    def __str__(self) -> str:
        return f"public state {self.number}"
