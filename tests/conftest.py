"""What all tests share."""

import signal


def pytest_sessionstart() -> None:
    """A shell that starts tests in the background has them and their children ignore Ctrl-C; tests of it need it as ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
