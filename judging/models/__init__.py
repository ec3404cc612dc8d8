"""What judges were shown, and what they answered."""

from judging.models.focus import PairFocus
from judging.models.gold import GoldAnswer, GoldPair, GoldSetting
from judging.models.grades import Grade, GradeItem, GradeSheet
from judging.models.invitations import Invitation, new_token
from judging.models.matchups import Kind, Matchup, Report
from judging.models.picked import PickedPair
from judging.models.public_states import PublicState
from judging.models.reset_links import ResetLink
from judging.models.seats import Epoch, Seat, new_seed
from judging.models.studies import Participation, StepRecord, Study, StudyAnswer, StudyVersion
from judging.models.tallies import JudgeTally, PromptTally
from judging.models.votes import Outcome, Vote, VoteQuerySet
