"""A guest makes the seat an account of their own: the seat, its votes and its pseudonym stay as they are."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from judging.models import Participation
from judging.studies.languages import spoken, study_page
from judging.studies.views.browsers import BACKEND, own_participation, study_of
from judging.studies.views.ends import WAS_THERE, can_claim
from judging.studies.writing import content_for
from judging.views.forms import SignUpForm
from judging.views.judges import STUDY


@transaction.atomic
def claim_account(*, participation: Participation, name: str, password: str) -> User:
    guest = User.objects.select_for_update().get(participation=participation)
    if guest.has_usable_password():
        raise IntegrityError("claimed before")
    guest.username = name
    guest.set_password(password)
    guest.save(update_fields=["username", "password"])
    return guest


@never_cache
@require_http_methods(["GET", "POST"])
def claim(request: HttpRequest, code: str) -> HttpResponse:
    """A name and a password for the browser's own guest."""
    study = study_of(code)
    mine = own_participation(request, study)
    if mine is None or not request.session.get(WAS_THERE) or not can_claim(mine):
        raise Http404
    content = spoken(request, content_for(mine))
    form = SignUpForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            account = claim_account(participation=mine, **form.cleaned_data)
        except IntegrityError:
            form.add_error("name", _("That name was taken a moment ago. Choose another."))
        else:
            login(request, account, backend=BACKEND)
            request.session.pop(STUDY, None)
            return redirect("judging:home")
    return study_page(request, "studies/claim.html", content, {"study": study, "form": form})
