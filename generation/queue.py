"""The queue: tells workers that there may be work. Losing a job loses nothing, because the sweeper enqueues it again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from functools import cache
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django_rq import get_queue
from django_rq.utils import reset_db_connections
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq import Queue, Worker, worker_registration
from rq.job import Job
from rq.serializers import JSONSerializer

from benchsite.tracing import carrier, flush, span

log = structlog.get_logger(__name__)
TRACE = "trace"  # in a job's notes: the request that asked for it
# A queue that does not answer within this is unreachable: a page must not wait for it.
TIMEOUT_SECONDS = 1.0
SWEEPER_KEY = "benchsite:sweeper"
SWEEPER_KEPT = 86_400  # seconds
PRESENCE_KEY = "benchsite:presence"
TROUBLE_KEY, TROUBLE_KEPT = "benchsite:trouble", 30  # seconds
WORKER_TTL, HEARTBEAT_SECONDS = 19, 4  # RQ waits 15 seconds less than the first for a job before it beats again
WORKER_KEPT = WORKER_TTL + 60  # as RQ itself keeps one that was just born
SILENT_SECONDS = 10  # two beats and a little: a worker that is silent for longer is not counted


@cache
def queue_connection(url: str) -> Redis:
    return Redis.from_url(
        url, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS, retry=Retry(NoBackoff(), retries=0)
    )


def enqueue(queue: str, job: str, *arguments: Any) -> None:
    """Puts a job in the queue once the transaction commits; never raises, even where the queue is unreachable."""
    trace = carrier()
    transaction.on_commit(lambda: _enqueue(queue, job, arguments, trace), robust=True)


def enqueue_if_idle(queue: str, job: str, *arguments: Any) -> None:
    """As `enqueue`, unless something waits in that queue already."""
    trace = carrier()
    transaction.on_commit(lambda: _enqueue(queue, job, arguments, trace, if_idle=True), robust=True)


def enqueue_drawing() -> None:
    """At most one job waits at a time: whoever takes it draws everything that is due."""
    enqueue_if_idle("draw", "generation.jobs.draw")


def _enqueue(name: str, job: str, arguments: tuple[Any, ...], trace: dict[str, str], *, if_idle: bool = False) -> None:
    try:
        queue = get_queue(name, connection=queue_connection(settings.REDIS_URL), commit_mode="auto")
        # The length of the queue is asked, not a job's id: a job whose id was lost between pop and start would
        # otherwise keep the queue idle for ever.
        if not (if_idle and queue.count):
            meta = {TRACE: trace} if trace else None
            queue.enqueue_call(job, args=arguments, result_ttl=0, failure_ttl=3600, meta=meta)
    except (RedisError, OSError) as error:
        log.warning("queue_unreachable", queue=name, error=type(error).__name__)


def beat() -> None:
    """The sweeper's sign of life, for `doctor` and `/metrics`; never raises."""
    note_presence("sweeper")
    with contextlib.suppress(RedisError, OSError):
        queue_connection(settings.REDIS_URL).set(SWEEPER_KEY, repr(time.time()), ex=SWEEPER_KEPT)


def seconds_since_beat(connection: Redis) -> float | None:
    """None where no sweeper swept within a day."""
    beaten_at: Any = connection.get(SWEEPER_KEY)
    return None if beaten_at is None else max(0.0, time.time() - float(beaten_at))


def note_presence(role: str) -> None:
    """Notes that this host does its part, for `doctor`; never raises."""
    with contextlib.suppress(RedisError, OSError):
        connection = queue_connection(settings.REDIS_URL)
        connection.hset(PRESENCE_KEY, f"{socket.gethostname()} {role}", repr(_queue_time(connection)))


def end_presence(role: str) -> None:
    """Notes that this host stopped in good order, so that nobody misses it; never raises."""
    with contextlib.suppress(RedisError, OSError):
        queue_connection(settings.REDIS_URL).hdel(PRESENCE_KEY, f"{socket.gethostname()} {role}")


def _queue_time(connection: Redis) -> float:
    """By the queue's own clock: those of hosts differ."""
    seconds, microseconds = connection.time()
    return seconds + microseconds / 1e6


def read_presence(connection: Redis) -> dict[tuple[str, str], float]:
    """Seconds since each host was last seen in each of its roles."""
    rows: Any = connection.hgetall(PRESENCE_KEY)
    moment = _queue_time(connection)
    seen = {tuple(field.decode().split(" ", 1)): max(0.0, moment - float(at)) for field, at in rows.items()}
    return {(host, role): seconds for (host, role), seconds in seen.items()}


def forget_host(connection: Redis, host: str) -> int:
    """Stop expecting a host that was taken away; returns how many roles it had."""
    fields = [f"{name} {role}" for name, role in read_presence(connection) if name == host]
    return int(connection.hdel(PRESENCE_KEY, *fields)) if fields else 0


def note_trouble(what: str, words: str) -> None:
    """Tells all hosts what this one does not reach, for as long as that lasts; never raises."""
    with contextlib.suppress(RedisError, OSError):
        key = f"{TROUBLE_KEY}:{socket.gethostname()} {what}"
        queue_connection(settings.REDIS_URL).set(key, words[:300], ex=TROUBLE_KEPT)


def read_troubles(connection: Redis) -> dict[tuple[str, str], str]:
    """What hosts do not reach now, in words, by host and by what it is."""
    keys = sorted(connection.scan_iter(match=f"{TROUBLE_KEY}:*", count=1000))
    values: Any = connection.mget(keys) if keys else []
    troubles = {}
    for key, words in zip(keys, values, strict=True):
        host, _, what = key.decode().removeprefix(f"{TROUBLE_KEY}:").partition(" ")
        if words is not None:  # it ended meanwhile
            troubles[host, what] = words.decode("utf-8", "replace")
    return troubles


def workers_by_queue(connection: Redis) -> dict[str, int]:
    """Live workers by queue; every queue is listed. Their age is the queue's to tell: clocks of hosts differ."""
    number = dict.fromkeys(known_queues(), 0)
    workers = Worker.all(connection=connection)
    with connection.pipeline() as pipeline:
        for worker in workers:
            pipeline.ttl(worker.key)
        left = pipeline.execute()
    for worker, seconds in zip(workers, left, strict=True):
        if WORKER_KEPT - seconds <= SILENT_SECONDS:
            for name in worker.queue_names():
                if name in number:
                    number[name] += 1
    return number


class GentleWorker(Worker):
    """RQ's worker, made for outages.

    - SIGTERM is passed on to its child, so that calls in flight are settled instead of awaited for a whole slice.
    - A child whose worker is gone ends in the same way: else each outage would leave one more drawing beside the next.
    - A queue that was emptied or replaced hears of the worker again with its next heartbeat.
    """

    def handle_warm_shutdown_request(self) -> None:
        super().handle_warm_shutdown_request()
        if self.horse_pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
        super().main_work_horse(job, queue)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        try:
            with span(f"job {job.func_name}", after=job.meta.get(TRACE)):
                return super().perform_job(job, queue)
        finally:
            flush()

    @property
    def connection_timeout(self) -> int:
        """RQ would wait five seconds longer before it says that the queue is gone."""
        return self.dequeue_timeout + 5

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        super().heartbeat(WORKER_KEPT, pipeline)
        worker_registration.register(self, pipeline)
        if pipeline is None and self.birth_date:  # RQ itself sees to it where there is one
            self.connection.hset(self.key, mapping=self.serialize())
        note_presence(self.queue_names()[0])

    def register_death(self) -> None:
        super().register_death()
        end_presence(self.queue_names()[0])


def end_with_parent(parent: int, *, every: float = 0.5) -> None:
    """Waits until another process has become the parent of this one, then asks this one to stop."""
    while os.getppid() == parent:
        time.sleep(every)
    os.kill(os.getpid(), signal.SIGTERM)


def make_worker(name: str) -> GentleWorker:
    """One queue a worker: RQ loses jobs for good when a worker with two dies between pop and start."""
    queue = get_queue(name)
    worker = GentleWorker(
        [queue],
        connection=queue.connection,
        serializer=JSONSerializer,
        worker_ttl=WORKER_TTL,
        job_monitoring_interval=HEARTBEAT_SECONDS,
    )
    reset_db_connections()
    return worker


def known_queues() -> list[str]:
    return list(settings.RQ_QUEUES)
