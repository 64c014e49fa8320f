"""The page of a file on this computer: it follows the file, and answers nobody who does not know its address."""

import http.client
import json
import threading
import time
import urllib.request
from contextlib import contextmanager

import pytest

from pliant.errors import ModelError
from pliant.live.serve import HOST, FollowedPage, PageServer


@contextmanager
def served(file, write):
    server = PageServer(FollowedPage(file, write))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10.0)
        assert not thread.is_alive()


def got(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()


def until(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_a_saved_file_is_shown_again_and_its_trouble_is_said(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("one")

    def write():
        if file.read_text() == "wrong":
            raise ModelError.of("body 'arm'", "mass", "must be > 0 kg", -1)
        return f"<p>{file.read_text()}</p>"

    with served(file, write) as server:

        def state():
            return json.loads(got(f"{server.address}state"))

        until(lambda: state()["version"] == 1)
        assert got(f"{server.address}page") == "<p>one</p>"
        assert "iframe" in got(server.address)
        file.write_text("wrong")
        until(lambda: "must be > 0 kg" in state()["trouble"])
        assert got(f"{server.address}page?2") == "<p>one</p>"  # the last good one stays
        file.write_text("three")
        until(lambda: state() == {"version": 3, "trouble": ""})
        assert got(f"{server.address}page?3") == "<p>three</p>"


def test_only_the_address_that_was_printed_answers(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("one")
    with served(file, lambda: "page") as server:
        until(lambda: server.page.version == 1)
        port = int(server.address.split(":")[2].split("/")[0])

        def status(path, host):
            connection = http.client.HTTPConnection(HOST, port, timeout=10)
            connection.putrequest("GET", path, skip_host=True)
            connection.putheader("Host", host)
            connection.endheaders()
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status

        own = f"{HOST}:{port}"
        assert status(f"/{server.token}/page", own) == 200
        assert status("/page", own) == 404
        assert status("/", own) == 404
        assert status(f"/{server.token}/../etc/passwd", own) == 404
        assert status(f"/{server.token}/page", "evil.example") == 404  # a page that had its name resolve to this computer
        assert server._server.server_address[0] == HOST


def test_two_servers_have_two_tokens(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("one")
    with served(file, lambda: "page") as one, served(file, lambda: "page") as two:
        assert one.token != two.token and len(one.token) > 20
        with pytest.raises(urllib.error.HTTPError):
            got(one.address.replace(one.token, two.token))
