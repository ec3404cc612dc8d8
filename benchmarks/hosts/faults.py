"""What goes wrong with the hosts of docs/operations.md, and where it is to be read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import psycopg

from benchmarks.hosts.surfaces import Fault, Sign
from benchmarks.hosts.topology import Topology

AWAY = "database_unreachable"


def all_faults(site: Topology) -> dict[str, Fault]:
    """By name, in the order in which the full form tries them; after the last one the standby is the primary."""
    silent = [
        Sign("log", "worker2", r"(?i)redis|queue"),
        Sign("metrics", "web2", r'benchsite_workers\{queue="draw"\} [012]'),
        Sign("doctor", "web2", "Host worker2 is missing.+"),
    ]
    queue = [
        Sign("log", "web1", "queue_unreachable"),
        Sign("readyz", "web1", "queue: .+"),
        Sign("metrics", "web1", "benchsite_queue_up 0"),
        Sign("doctor", "web1", "The queue does not answer.+"),
    ]
    provider = reported("worker3", "provider_unreachable", "provider demo")
    passed_over = [Sign("log", "balancer", r"upstream timed out.+")]
    reads_only, full = r"database: .*read-only.*25006.*", r"database: .*No space left on device.*53100.*"
    cut, set_on = partial(_cut, site), partial(_set, site)
    faults = [
        cut("web host from the database", away("web1"), ("web1", "pool")),
        cut("worker from the database", reported("worker1", AWAY, "database"), ("worker1", "pool")),
        cut("worker from the queue", silent, ("worker2", "queue")),
        cut("worker from the provider", provider, ("worker3", "provider")),
        cut("balancer from a web host", passed_over, ("balancer", "web1")),
        cut("primary from its standby", away("web2", r"database: .*standby.*"), ("db1", "db2")),
        cut("pooler from the primary", away("web1"), ("pool", "db1")),
        Fault("everybody from the queue", queue, partial(site.net.unplug, "queue"), partial(site.net.plug_in, "queue")),
        set_on("database that only reads", away("web1", reads_only), "default_transaction_read_only", "on"),
        Fault("database with a full disk", away("web1", full), site.fill_disk, site.free_disk),
        cut(
            "everybody from the primary",
            away("web1"),
            *(("db1", host) for host in ("pool", "worker3", "db2")),
            first=partial(promote, site),
        ),
    ]
    return {fault.name: fault for fault in faults}


def away(host: str, words: str = r"database: .+") -> list[Sign]:
    """A web host that does not get at the database says so itself, on all of its surfaces."""
    doctor = r"BAD +The database (does not answer|answers \(postgresql\) and takes no writes).+"
    return [
        Sign("log", host, AWAY),
        Sign("readyz", host, words),
        Sign("metrics", host, r"benchsite_database_up 0"),
        Sign("doctor", host, doctor),
    ]


def reported(host: str, log: str, what: str) -> list[Sign]:
    """A worker host has no pages: it tells the others by the queue, and they say so."""
    metric = rf'benchsite_host_trouble\{{host="{host}",with="{what}"\}} 1'
    return [
        Sign("log", host, log),
        Sign("metrics", "web2", metric),
        Sign("doctor", "web2", f"Host {host} does not reach the {what}"),
    ]


def _cut(
    site: Topology, name: str, signs: list[Sign], *cables: tuple[str, str], first: Callable[[], object] = lambda: None
) -> Fault:
    def begin() -> None:
        for cable in cables:
            site.net.cut(*cable)

    def mend() -> None:
        first()
        for cable in cables:
            site.net.mend(*cable)

    return Fault(name, signs, begin, mend)


def _set(site: Topology, name: str, signs: list[Sign], setting: str, value: str) -> Fault:
    def run(statement: str) -> None:
        with psycopg.connect(site.admin("db1"), autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(statement)
            connection.execute("SELECT pg_reload_conf()")

    return Fault(
        name,
        signs,
        partial(run, f"ALTER SYSTEM SET {setting} = {value}"),
        partial(run, f"ALTER SYSTEM RESET {setting}"),
    )


def promote(site: Topology) -> None:
    """As the page says: the old primary is off, the standby is promoted, the pooler is told."""
    site.net["db1"].kill()
    with psycopg.connect(site.admin("db2"), autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
    site.write_pool("db2")
    site.reload_pool()
