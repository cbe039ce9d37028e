"""A server that really runs, inside a test."""

import socket
import threading
import time

import uvicorn

from discreet.server.http.app import build
from discreet.server.operate.serve import listening


class Live:
    """A server in a thread of this process, its workers in processes of their own."""

    def __init__(self, place, workers=1, **settings):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.place = place.change(**{"workers": workers, "trial_workers": workers, **settings}, port=port)
        self.app = build(place.config)
        settings = listening(self.app, place.config)
        settings.timeout_graceful_shutdown = 1  # nobody waits for lines that others left open
        self.server = uvicorn.Server(settings)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join()

    @property
    def url(self):
        """Where it answers."""
        return self.place.config.site
