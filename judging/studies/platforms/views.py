"""Where the platform tells of a submission whose status changed."""

from __future__ import annotations

import json

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from judging.models import Participation
from judging.studies.platforms.submissions import Submission, is_signed, take_submission

EVENT = "submission.status.change"


@csrf_exempt
@require_POST
def platform_event(request: HttpRequest) -> HttpResponse:
    """A signed message. What is known already, or is about nobody here, changes nothing and is answered alike."""
    if not settings.PLATFORM_WEBHOOK_SECRET:
        raise Http404
    timestamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    if not is_signed(
        request.body, timestamp=timestamp, signature=request.headers.get("X-Prolific-Request-Signature", "")
    ):
        return JsonResponse({"error": "signature", "sentence": "The signature or its time is wrong."}, status=403)
    try:
        event = json.loads(request.body)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        return JsonResponse({"error": "invalid", "sentence": "The body is not a JSON object."}, status=400)
    if event.get("event_type") == EVENT:
        names = ("resource_id", "participant_id", "status", "study_id")
        submission = Submission(*(str(event.get(name) or "")[:80] for name in names))
        take_submission(Participation.objects.exclude(parameters={}), submission)
    return JsonResponse({"received": True})
