"""The page where participants see, download and withdraw what is stored about them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchsite.lib.files import attachment
from judging.studies.languages import spoken, study_page
from judging.studies.privacy import stored_data, withdraw_participation
from judging.studies.views.browsers import problem_page, study_of
from judging.studies.views.forms import ReceiptForm
from judging.studies.writing import content_of, newest_version


@never_cache
@require_http_methods(["GET", "POST"])
def own_data(request: HttpRequest, code: str) -> HttpResponse:
    """What is stored about a person, by the key that their last page showed: to read, to download, to withdraw."""
    study = study_of(code)
    content = spoken(request, content_of(newest_version(study)))
    form = ReceiptForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"study": study, "form": form}
    if request.method == "POST" and form.is_valid():
        rows = study.participations.select_related("study", "seat__run").defer("seat__plan", "seat__run__config")
        mine = rows.filter(receipt=form.cleaned_data["receipt"]).first()
        if mine is None:
            form.add_error("receipt", _("There is no such key in this study. It stands on the last page that you saw."))
        elif "withdraw" in request.POST:
            withdraw_participation(mine)
            frozen = mine.seat is not None and mine.seat.run.frozen_at is not None
            sentence = _("Your answers and everything that says who you are were deleted.")
            sentence += " "
            sentence += (
                _("Results that were frozen before keep your choices without a name.")
                if frozen
                else _("Your choices count nowhere.")
            )
            return problem_page(request, study, _("Your data are withdrawn"), sentence)
        elif "download" in request.POST:
            response = JsonResponse(stored_data(mine), json_dumps_params={"indent": 2, "ensure_ascii": False})
            response["Content-Disposition"] = attachment(f"study-{study.code}.json")
            return response
        else:
            context |= {"mine": mine, "data": stored_data(mine)}
    return study_page(request, "studies/own_data.html", content, context)
