"""`manage.py import_model_votes RUN FILE --reason WHY`: model judges' answers of a file join a run."""

from __future__ import annotations

from judging.management.answer_files import AnswerImport
from judging.model_judges.importing import import_model_votes


class Command(AnswerImport):
    help = "Import model judges' answers (model_votes.jsonl) about a run's drawings; they are compared with people's votes."
    importing = staticmethod(import_model_votes)
