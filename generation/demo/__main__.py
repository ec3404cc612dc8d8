"""`python -m generation.demo --port 8001`: the demo provider as a process of its own."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from generation.demo.server import make_server


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m generation.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one; the address is printed")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--latency", type=float, help="seconds for every call, instead of each player's own pace")
    parser.add_argument("--faults", type=float, default=1.0, help="0 switches 429s off; 1 is each player's own rate")
    pace = os.environ.get("DEMO_LATENCY", "1")
    parser.add_argument("--pace", type=float, default=pace, help="each player's time times this; also DEMO_LATENCY")
    options = parser.parse_args()
    try:
        server = make_server(
            options.port, host=options.host, latency=options.latency, pace=options.pace, faults=options.faults
        )
    except OSError as error:
        sys.exit(f"The demo provider cannot listen on {options.host}:{options.port}: {error.strerror}.")
    print(f"http://{options.host}:{server.server_port}/v1", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
