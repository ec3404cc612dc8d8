"""The API against its own OpenAPI document: whatever fits the document, or nearly, is answered as it says, and never with a 5xx.

`script/bench api --full` tries a thousand requests of each operation on a new database; the tests try a few.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.figures.table import make_parser, write_json

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")


def fuzz_api(
    document: dict[str, Any], app: Any, *, headers: dict[str, str], names: dict[str, str], examples: int
) -> Counter:
    """Statuses by how often they came; raises at the first answer that is not as the document says.

    Names of runs, drawings and so on are those that exist (`names`) in three of four requests. What a request changed is
    taken back.
    """
    import schemathesis
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections, transaction
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    @schemathesis.serializer("application/x-ndjson")
    def write_lines(context: Any, value: Any) -> bytes:
        rows = value if isinstance(value, list) else [value]
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode("utf-8", "surrogatepass")

    checks, statuses = [getattr(schemathesis.checks, name) for name in CHECKS], Counter()
    modes = st.sampled_from([schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])

    def fuzz(operation: Any) -> None:
        @seed(1)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data(), mode=modes, real=st.sampled_from([True, True, True, False]))
        def ask(data: Any, mode: Any, real: bool) -> None:
            case = data.draw(operation.as_strategy(generation_mode=mode))
            if real and case.path_parameters:
                for name in case.path_parameters.keys() & names.keys():
                    case.path_parameters[name] = names[name]
            with transaction.atomic():
                response = case.call(app=app, base_url="http://testserver", headers=headers)
                transaction.set_rollback(True)
            statuses[response.status_code] += 1
            case.validate_response(response, checks=checks)

        ask()

    # They would close the connection inside the transaction that is to be taken back.
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        for result in schemathesis.openapi.from_dict(document).get_all_operations():
            fuzz(result.ok())
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
    return statuses


def world() -> tuple[dict[str, str], dict[str, str]]:
    """A judged, closed run with a study, and a token that may everything; headers, and names of what there is."""
    from datetime import timedelta

    from django.utils.timezone import now

    from generation.models import Run
    from ranking.fitting import fit_run
    from ranking.tokens import create_token
    from ranking.webhooks.subscriptions import create_webhook
    from tests.judging.make import make_curator
    from tests.judging.studies.make import make_study
    from tests.ranking.archive_run import make_judged_run

    run = make_judged_run()
    study, carol = make_study(run), make_curator()
    Run.objects.filter(pk=run.pk).update(judging_state="closed", visibility="published")
    run.refresh_from_db()
    fit_run(run)
    hook = create_webhook(run=run, url="https://example.org/", kinds=["run"], by=carol)
    invitation = run.invitations.create(created_by=carol, expires_at=now() + timedelta(days=1))
    token = create_token(label="fuzz", by=carol, role="curate", expires_at=now() + timedelta(days=1))[1]
    names = {
        "run": run.code,
        "study": study.code,
        "sample": run.samples.judgeable()[0].code,
        "protocol": run.protocols[0],
        "webhook": hook.code,
        "invitation": str(invitation.pk),
    }
    return {"Authorization": f"Bearer {token}"}, names


def main() -> None:
    options = make_parser(__doc__, "1,000 requests of each operation instead of 100").parse_args()
    with TemporaryDirectory() as folder:
        os.environ |= {"VAR_DIR": folder, "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3", "LOG_LEVEL": "CRITICAL"}
        os.environ["ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
        import django

        django.setup()
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application
        from django.test import Client

        from ranking import tokens

        tokens.PER_MINUTE = 10**9
        call_command("migrate", verbosity=0)
        headers, names = world()
        document = Client().get("/api/v1/openapi.json").json()
        examples = 1000 if options.full else 100
        statuses = fuzz_api(document, get_wsgi_application(), headers=headers, names=names, examples=examples)
    row = {
        "operations": sum(len(methods) for methods in document["paths"].values()),
        "requests": statuses.total(),
        "5xx": sum(count for status, count in statuses.items() if status >= 500),
        "statuses": dict(sorted(statuses.items())),
    }
    print(json.dumps(row))
    write_json(options.json, row)


if __name__ == "__main__":
    main()
