"""`manage.py import_model_grades RUN FILE --reason WHY`: model judges' grades of a file join a run."""

from __future__ import annotations

from judging.management.answer_files import AnswerImport
from judging.model_judges.importing_grades import import_model_grades


class Command(AnswerImport):
    help = "Import model judges' answers (model_grades.jsonl) about a run's drawings; they are compared with people's grades."
    importing = staticmethod(import_model_grades)
