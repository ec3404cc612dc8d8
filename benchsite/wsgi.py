"""What gunicorn serves."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")

application = get_wsgi_application()

from generation.checks import refuse_to_start  # noqa: E402  tables are there only now

refuse_to_start()
# What is loaded by now stays; a collection of garbage need not look at it again.
gc.collect()
gc.freeze()
