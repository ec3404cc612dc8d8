"""The child that reads Parquet. It holds nothing of the site, and the kernel bounds it.

It is told a file's name, prints the names of its columns, is told which to read, prints the rows and an empty line, and may
then be told the next file. Each line is JSON.

    parquet_child.py BYTES SECONDS
"""

from __future__ import annotations

import json
import resource
import sys
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

ROWS = 1000  # at a time
TOO_MUCH = 3  # the exit code where the memory does not do


def main() -> None:
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    import pyarrow as pa
    import pyarrow.parquet as pq

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        while path := sys.stdin.readline():
            allow_seconds(seconds)
            with pq.ParquetFile(json.loads(path)) as file:
                print(json.dumps(file.schema_arrow.names), flush=True)
                columns = json.loads(sys.stdin.readline())
                for batch in file.iter_batches(ROWS, columns=columns or None, use_threads=False):
                    sys.stdout.writelines(json.dumps(plain(row)) + "\n" for row in batch.to_pylist())
            print(flush=True)
    except MemoryError:
        sys.exit(TOO_MUCH)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        sys.exit(str(error).partition("\n")[0] or type(error).__name__)


def allow_seconds(seconds: int) -> None:
    """From now on, whatever earlier files took."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))


def plain(value: Any) -> Any:
    """As JSON can say it; a time without a zone is of UTC."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else _text(value)


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


if __name__ == "__main__":
    main()
