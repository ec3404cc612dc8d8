"""The child that draws SVG: reads one drawing after the other from its socket and answers with PNG.

It is started as a file of its own, so that it holds nothing of the site. The kernel ends it where a drawing takes too long or
too much memory; it can open no file and start no process. What is written in SVG is drawn in the one font it is given.

    worker.py FONT SECONDS BYTES
"""

from __future__ import annotations

import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import resvg
from resvg import usvg

WHITE = (255, 255, 255, 255)
FAMILY = "DejaVu Sans"
ONE_FONT = f'<style>*{{font-family:"{FAMILY}"!important}}</style></svg>'


def main() -> None:
    font, seconds, memory = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    options = usvg.Options.default()
    options.load_font_data(Path(font).read_bytes())  # from a file it would be opened again for each letter
    options.font_family = FAMILY
    socket = Connection(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and so the child
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NOFILE, 3),  # those that are open
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    while True:
        try:
            request = socket.recv_bytes()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        reply = draw(request[4:].decode(), int.from_bytes(request[:4], "big"), options)
        signal.setitimer(signal.ITIMER_PROF, 0)
        socket.send_bytes(reply)


def draw(svg: str, side: int, options: Any) -> bytes:
    """`+` and the PNG, a square on white with the drawing in its middle; or `-` and why there is none."""
    try:
        if "<text" in svg:  # a family that is not there would leave its words out
            svg = svg.rpartition("</svg>")[0] + ONE_FONT
        tree = usvg.Tree.from_str(svg, options)
        width, height = tree.int_size()
        scale = side / max(width, height)
        left, top = (side - scale * width) / 2, (side - scale * height) / 2
        picture = resvg.render(tree, (scale, 0, left, 0, scale, top), bg_size=(side, side), bg_color=WHITE)
        return b"+" + bytes(picture)
    except BaseException as error:  # resvg panics on what it cannot parse, and a panic is no Exception
        return b"-" + f"Drawing it ends in an error: {error}".encode()[:200]


if __name__ == "__main__":
    main()
