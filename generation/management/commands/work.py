"""`manage.py work draw`: a worker for one queue."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from generation.queue import known_queues, make_worker


class Command(BaseCommand):
    """Takes jobs until it is stopped."""

    help = "Run a worker for one queue. Start as many as you like; the database ensures that nothing is done twice."
    requires_system_checks = []  # they load every page, and this one serves none

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("queue", choices=known_queues())
        parser.add_argument("--burst", action="store_true", help="stop when the queue is empty")

    def handle(self, *args: Any, queue: str, burst: bool, **options: Any) -> None:
        try:
            make_worker(queue).work(burst=burst, logging_level="WARNING")
        except (RedisError, OSError) as error:
            raise CommandError(f"The queue does not answer ({type(error).__name__}); is it running?") from None
