"""Curators' pages that start a run: of a suite on the server, or of one that they upload."""

from __future__ import annotations

import json
import os
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchsite.lib.access import UserRequest, curator_required
from benchsite.lib.text import visible
from generation.codes import new_code
from generation.protocols import load, protocols_of
from generation.runs.catalogue import listed_entry
from generation.runs.checking import check_suite, free_providers
from generation.runs.errors import RunError
from generation.runs.lifecycle import start_run
from generation.suites.costs import bounds_by_model, cost_bound_nano
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.profiles import Profile, load_profiles
from generation.suites.suite import ModelEntry, Suite
from generation.suites.uploads import read_suite, seal, unseal
from generation.suites.yaml_source import SuiteError
from generation.views.catalogue import chosen_offers, find_offers
from generation.views.forms import StartForm, SuiteUploadForm, UploadedStartForm

MOST_MODELS = 50  # from catalogues in one run


def _suite(slug: str) -> Suite:
    suites = [suite for suite in load_suites(settings.SUITES_DIR) if suite.slug == slug]
    if not suites or isinstance(suites[0], BrokenSuite):
        raise Http404
    return suites[0]


def _profiles() -> dict[str, Profile]:
    return load_profiles(settings.SUITES_DIR / "providers.yaml")


@curator_required
@require_http_methods(["GET", "POST"])
def start(request: UserRequest, slug: str) -> HttpResponse:
    suite = _suite(slug)
    form = StartForm(
        suite,
        request.POST or None,
        initial={"key": new_code()},
        by=request.user,
        more=len(request.POST.getlist("more")),
    )
    return _started(request, suite, form) or _page(request, suite, form)


@curator_required
@require_GET
def catalogue(request: HttpRequest, slug: str) -> HttpResponse:
    """What a search finds, for the script that searches as one types."""
    search = find_offers(_profiles(), _suite(slug), request.GET.get("provider", ""), request.GET.get("find", ""))
    return render(request, "generation/_offers.html", {"search": search})


@curator_required
@require_http_methods(["GET", "POST"])
def upload(request: UserRequest) -> HttpResponse:
    """Takes the files, and shows what a run of them may cost before one is started."""
    form = SuiteUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            suite = read_suite(form.cleaned_data["files"], name=form.cleaned_data["name"])
            sealed = seal(suite, request.user)
        except SuiteError as error:
            form.add_error("files", visible(f"Nothing was started. {error}"))
        else:
            return _page(
                request, suite, UploadedStartForm(suite, initial={"key": new_code(), "sealed": sealed}, by=request.user)
            )
    return render(request, "generation/upload.html", {"form": form})


@curator_required
@require_POST
def start_uploaded(request: UserRequest) -> HttpResponse:
    suite = unseal(request.POST.get("sealed", ""), request.user)
    if suite is None:
        messages.error(request, "Nothing was started: an upload expires after a day. Upload the files again.")
        return redirect("generation:upload")
    form = UploadedStartForm(suite, request.POST, by=request.user, more=len(request.POST.getlist("more")))
    if "check" in request.POST:
        return _page(request, suite, form, check=check_suite(suite, profiles=_profiles()))
    return _started(request, suite, form, uploaded=True) or _page(request, suite, form)


def _started(request: UserRequest, suite: Suite, form: StartForm, *, uploaded: bool = False) -> HttpResponse | None:
    """The way to the new run, unless the form has something to say first."""
    if request.method != "POST" or "search" in request.POST or not form.is_valid():
        return None
    chosen = {name: form.cleaned_data[name] for name in ("label", "models", "attempts", "budget", "key")}
    chosen["team"] = form.cleaned_data.get("team")
    try:
        more = _more(request)
        if more and chosen["budget"] is None:
            form.add_error("budget", "Set a budget: a run with models from outside the suite needs one.")
            return None
        return redirect(
            "generation:run",
            start_run(suite, **chosen, more=more, uploaded=uploaded, by=request.user, wait=False).code,
        )
    except RunError as error:
        form.add_error(None, str(error))
        return None


def _more(request: HttpRequest) -> list[ModelEntry]:
    """The models that were chosen from catalogues, as these describe them now."""
    profiles, entries = _profiles(), {}
    for value in request.POST.getlist("more")[:MOST_MODELS]:
        provider, _, model_id = value.partition("|")
        if provider not in profiles:
            raise RunError(f"There is no provider {provider[:60]!r} in providers.yaml.")
        entries[model_id] = listed_entry(profiles[provider], model_id)
    return list(entries.values())


def _page(request: HttpRequest, suite: Suite, form: StartForm, **more: Any) -> HttpResponse:
    profiles = _profiles()
    wanted_keys = {profiles[model.provider or suite.generation.provider].key_env for model in suite.models}
    bound = cost_bound_nano(suite, free=free_providers(profiles))
    search = find_offers(profiles, suite, request.POST.get("provider", ""), request.POST.get("find", ""))
    try:
        chosen = chosen_offers(profiles, suite, _more(request))
    except RunError:
        chosen = []  # the form says what is wrong with them
    taken = {offer.value for offer in chosen}
    search.offers = [offer for offer in search.offers if offer.value not in taken]
    context = {
        "suite": suite,
        "form": form,
        "bound": bound,
        "costs": json.dumps(bounds_by_model(suite, free=free_providers(profiles))),
        "plans": [load(entry.plan)(suite, bound_nano=bound) for entry in protocols_of(suite).values() if entry.plan],
        "unpriced": [model.label for model in suite.models if None in (model.price_in, model.price_out)],
        "providers": [name for name, profile in profiles.items() if profile.kind != "demo"],
        "search": search,
        "chosen": chosen,
        "missing_keys": sorted(name for name in wanted_keys if name and not os.environ.get(name)),
        **more,
    }
    return render(request, "generation/start.html", context)


@curator_required
@require_POST
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks the suite's providers; costs nothing."""
    suite = _suite(slug)
    return render(request, "generation/check.html", {"suite": suite, "check": check_suite(suite, profiles=_profiles())})
