"""What gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")

application = get_wsgi_application()

from generation.checks import refuse_to_start  # noqa: E402  tables are there only now

refuse_to_start()
