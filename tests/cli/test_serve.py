#!/usr/bin/env python3
"""`warplens explore` as a server: what it gives, to whom, how it starts and ends; and two profiles.

    test_serve.py WARPLENS WORK NVCC [CASE]
"""
import base64
import gzip
import hashlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest
import urllib.parse

import case
from case import WARPLENS, compile_program, run

PATIENCE = 60  # seconds
GOLDEN = os.path.join(os.path.dirname(__file__), "..", "golden", "gpu", "rows.wlcap")


def unpacked(part):
    return gzip.decompress(base64.b64decode(part))


def payloads(html):
    """The JSON texts of a page's reports, and their parts."""
    text = re.search(r'id="payload">([^<]*)<', html).group(1)
    reports = [report.split(".") for report in text.split(":")]
    return [(json.loads(unpacked(parts[0])), parts) for parts in reports]


def content(row, parts):
    """A row of `explore` with what its parts hold in place of their numbers."""
    def digests(numbers):
        return [hashlib.sha256(unpacked(parts[n])).hexdigest() for n in numbers]
    named = {}
    if "pages" in row:
        named = {"pages": digests(row["pages"]), "members": digests([row["members"]]), "part": digests([row["part"]])}
    if "hashed" in row:
        named["hashed"] = {**row["hashed"], "part": digests([row["hashed"]["part"]])}
    return {**row, **named}


class Server:
    """A running `warplens explore`, once it has printed its address."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([WARPLENS, "explore", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **options)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        self.url = self.process.stdout.readline() if ready else ""
        self.address = urllib.parse.urlsplit(self.url.strip())

    def get(self, path="", host=None):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=PATIENCE)
        connection.request("GET", self.address.path + path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def launch(self, profile, launch):
        status, body = self.get(f"launch/{profile}/{launch}")
        assert status == 200, body
        parts = body.split(".")
        return content(json.loads(unpacked(parts[0])), parts)

    def end(self, how=signal.SIGINT):
        """Its exit status, and what else it said."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


class Serving(case.Case):
    def setUp(self):
        super().setUp()
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            server.process.kill()
            server.process.communicate()

    def serve(self, *arguments, **options):
        self.servers.append(Server("--no-open", *arguments, **options))
        self.assertRegex(self.servers[-1].url, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n$")
        return self.servers[-1]

    def profile_steps(self, program="warps"):
        done = self.profile(compile_program(program), options=["-q", "-f", "--set", "sequences"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def write(self, *arguments):
        html = os.path.join(self.folder, "written.html")
        done = run(WARPLENS, "explore", "--no-open", "-f", "-o", html, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(html, encoding="utf-8") as f:
            return f.read()

    def test_a_launch_is_what_a_file_holds_of_it(self):
        self.profile_steps()
        written = self.write(self.wlprof)
        self.assertIn("connect-src 'none'", written)
        ((held, parts),) = payloads(written)
        self.assertGreater(len(held["explore"]), 2)
        server = self.serve("--serve", self.wlprof)
        status, page = server.get()
        self.assertEqual(status, 200)
        self.assertIn("connect-src 'self'", page)
        ((payload, _),) = payloads(page)
        self.assertEqual(payload["explore"], [])
        self.assertEqual([(row["launch"], row["kernel"]) for row in payload["served"]],
                         [(row["launch"], row["kernel"]) for row in held["explore"]])
        for row in held["explore"]:
            self.assertEqual(server.launch(0, row["launch"]), content(row, parts))
        self.assertTrue({row["launch"] for row in payload["served"]} <= {launch["id"] for launch in payload["launches"]})

    def import_rows(self, **variables):
        """A recording of tests/gpu/programs/rows.cu on a GPU. It has paths of launches 1 and 3, and
        of all three the steps of seven blocks."""
        captures = os.path.join(self.folder, "captures")
        os.makedirs(captures, exist_ok=True)
        shutil.copy(GOLDEN, captures)
        done = run(WARPLENS, "import", "-q", "-f", "-o", self.wlprof, captures,
                   env={**os.environ, "WARPLENS_REPLAY_BUDGET": "none", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_launches_of_which_paths_are_known(self):
        for variables, launches in (({"WARPLENS_SET": "sequences"}, [(1, False), (2, False), (3, False)]),
                                    ({}, [(1, True), (3, True)])):
            self.import_rows(**variables)
            ((held, parts),) = payloads(self.write(self.wlprof))
            server = self.serve("--serve", self.wlprof)
            ((payload, _),) = payloads(server.get()[1])
            self.assertEqual([(row["launch"], row.get("hashed", False)) for row in payload["served"]], launches)
            for row in held["explore"]:
                self.assertEqual("pages" in row, bool(variables))
                self.assertEqual("columns" in row.get("hashed", {}), row["launch"] != 2)
                self.assertEqual(server.launch(0, row["launch"]), content(row, parts))
            self.assertEqual(len(held["explore"]), len(launches))
            self.assertEqual(server.end()[0], 0)

    def test_only_what_is_asked_for_is_given(self):
        self.profile_steps()
        server = self.serve("--serve", "-k", "branch", self.wlprof)
        ((payload, _),) = payloads(server.get()[1])
        self.assertEqual(len(payload["served"]), 1)
        served = payload["served"][0]["launch"]
        other = next(launch["id"] for launch in payload["launches"] if launch["id"] != served)
        for path in (f"launch/0/{other}", f"launch/1/{served}", f"launch/0/{served}/", f"launch/0/+{served}", "launch/0/",
                     "launch//1", "launch/0/1e1", "launch/0/%2e%2e", "launch/0/99999999999999999999", "../", "favicon.ico"):
            self.assertEqual(server.get(path)[0], 404, path)
        self.assertEqual(server.get(f"launch/0/{served}", host="evil.example")[0], 403)
        self.assertEqual(server.get(f"../launch/0/{served}")[0], 404)
        server.address = server.address._replace(path="/" + 32 * "0" + "/")
        self.assertEqual(server.get(f"launch/0/{served}")[0], 403)

    def test_it_listens_on_this_machine_alone(self):
        self.profile_steps()
        server = self.serve("--serve", self.wlprof)
        inodes = {os.readlink(f"/proc/{server.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{server.process.pid}/fd")}
        listening = []
        for table in ("tcp", "tcp6"):
            if not os.path.exists(f"/proc/net/{table}"):
                continue
            with open(f"/proc/net/{table}", encoding="ascii") as f:
                rows = [line.split() for line in f.readlines()[1:]]
            listening += [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
        self.assertEqual(listening, [f"0100007F:{server.address.port:04X}"])

    def test_two_clients_at_once(self):
        self.profile_steps()
        server = self.serve("--serve", self.wlprof)
        ((payload, _),) = payloads(server.get()[1])
        ids = [row["launch"] for row in payload["served"]] * 4
        got = [None] * len(ids)

        def ask(i):
            got[i] = server.launch(0, ids[i])
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(ids))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([row["launch"] for row in got], ids)
        self.assertEqual(got[:len(ids) // 2], got[len(ids) // 2:])

    def test_ctrl_c_ends_it_well(self):
        self.profile_steps()
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = self.serve("--serve", self.wlprof)
            self.assertEqual(server.get()[0], 200)
            status, out, err = server.end(how)
            self.assertEqual((status, out), (0, ""), err)
            self.assertIn("until Ctrl-C", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.wlprof"])

    def test_ctrl_c_during_an_answer(self):
        self.profile_steps()
        server = self.serve("--serve", self.wlprof)
        connection = http.client.HTTPConnection(server.address.hostname, server.address.port, timeout=PATIENCE)
        connection.connect()  # and asks nothing: it keeps nobody waiting
        begun = time.monotonic()
        self.assertEqual(server.end()[0], 0)
        self.assertLess(time.monotonic() - begun, 20)
        connection.close()

    def test_the_port_is_chosen(self):
        self.profile_steps()
        first = self.serve("--serve", self.wlprof)
        port = str(first.address.port)
        taken = run(WARPLENS, "explore", "--no-open", "--port", port, self.wlprof)
        self.assertEqual(taken.returncode, 1)
        self.assertEqual(taken.stdout, "")
        self.assertIn("without --port the system chooses one", taken.stderr)
        self.assertEqual(first.end()[0], 0)
        second = self.serve("--port", port, self.wlprof)
        self.assertEqual(second.address.port, int(port))
        self.assertNotEqual(second.address.path, first.address.path)
        self.assertEqual(second.get()[0], 200)

    def test_options_that_contradict(self):
        self.profile_steps()
        for options, says in ((["--serve", "--offline"], "--serve writes no file"), (["--serve", "-o", "x.html"], "--serve writes no file"),
                              (["--port", "1", "--offline"], "--port has no effect"), (["--port", "65536"], "from 0 to 65535"),
                              (["--port", "-2"], "from 0 to 65535"), (["--port", "x"], "invalid numeric value"), (["a", "b", "c"], "2 profiles")):
            done = run(WARPLENS, "explore", "--no-open", *options, *([] if "a" in options else [self.wlprof]), cwd=self.folder)
            self.assertEqual(done.returncode, 2, (options, done.stderr))
            self.assertIn(says, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["p.wlprof"])

    def test_a_truncated_profile(self):
        self.profile_steps()
        size = os.path.getsize(self.wlprof)
        for keep in (0, 100, 4096, size // 2, size - 4096):
            broken = os.path.join(self.folder, "broken.wlprof")
            with open(self.wlprof, "rb") as whole, open(broken, "wb") as f:
                f.write(whole.read()[:keep])
            done = run(WARPLENS, "explore", "--serve", "--no-open", broken)
            self.assertEqual((done.returncode, done.stdout), (1, ""), (keep, done.stderr))
            self.assertIn("broken.wlprof", done.stderr)

    def test_a_profile_that_is_damaged_while_it_is_served(self):
        self.profile_steps()
        server = self.serve("--serve", self.wlprof)
        ((payload, _),) = payloads(server.get()[1])
        with open(self.wlprof, "r+b") as f:
            f.truncate(8192)
        status, body = server.get(f"launch/0/{payload['served'][-1]['launch']}")
        self.assertEqual(status, 500)
        self.assertIn("profile the program again", body)
        self.assertEqual(server.get()[0], 200)  # the page is there still
        self.assertEqual(server.end()[0], 0)

    def test_where_a_file_would_be_too_large_it_serves(self):
        self.profile_steps("random")
        server = self.serve(self.wlprof)
        ((payload, _),) = payloads(server.get()[1])
        self.assertEqual(len(payload["served"]), 2)
        self.assertEqual(server.launch(0, payload["served"][0]["launch"])["warps"], 8192)
        status, _, err = server.end()
        self.assertEqual(status, 0)
        self.assertIn("--offline leaves them out", err)
        self.assertEqual(os.listdir(self.folder), ["p.wlprof"])
        done = run(WARPLENS, "explore", "--no-open", "--offline", self.wlprof)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        html = os.path.join(self.folder, "p.explore.html")
        self.assertLess(os.path.getsize(html), 20_000_000)
        with open(html, encoding="utf-8") as f:
            ((payload, _),) = payloads(f.read())
        self.assertEqual(["left_out" in row for row in payload["explore"]], [True, False])

    def test_what_is_far_too_large_is_not_read_first(self):
        self.profile_steps()
        profile = sqlite3.connect(self.wlprof)  # a page of steps that cannot be read, and takes more than any file has room for
        profile.execute("UPDATE sequence_pages SET data = zeroblob(70000000) WHERE sequence = (SELECT min(sequence) FROM sequence_pages)")
        of = {launch for (launch,) in profile.execute(
            "SELECT launch FROM warp_groups WHERE sequence = (SELECT min(sequence) FROM sequence_pages)")}
        profile.commit()
        profile.close()
        server = self.serve(self.wlprof)
        ((payload, _),) = payloads(server.get()[1])
        for row in payload["served"]:
            status, body = server.get(f"launch/0/{row['launch']}")
            self.assertEqual(status, 500 if row["launch"] in of else 200, body[:200])
            if row["launch"] in of:
                self.assertRegex(body, r"p\.wlprof: .*cannot be read.*profile the program again")
        self.assertEqual(server.end()[0], 0)
        done = run(WARPLENS, "explore", "--no-open", "--offline", self.wlprof)  # which has to read it
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_the_browser_is_led_there(self):
        self.profile_steps()
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools)
        given = os.path.join(self.folder, "given")
        with open(os.path.join(tools, "xdg-open"), "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\necho "$1" > "{given}"\ncat "$1" > "{given}.text"\nstat -c %a "$1" > "{given}.mode"\n')
        os.chmod(f.name, 0o755)
        self.servers.append(Server("--serve", self.wlprof, env=dict(os.environ, PATH=tools + ":" + os.environ["PATH"])))
        server = self.servers[0]
        end = time.monotonic() + PATIENCE
        while not os.path.exists(given + ".mode") and time.monotonic() < end:
            time.sleep(0.05)
        with open(given, encoding="utf-8") as f:
            way = f.read().strip()
        self.assertNotIn(server.address.path.strip("/"), way)  # others can read arguments
        with open(given + ".text", encoding="utf-8") as f:
            self.assertIn(f"url={server.url.strip()}\"", f.read())
        with open(given + ".mode", encoding="utf-8") as f:
            self.assertEqual(f.read(), "600\n")
        self.assertEqual(server.end()[0], 0)
        self.assertFalse(os.path.exists(way))

    def test_without_a_browser_the_address_is_told(self):
        self.profile_steps()
        nothing = os.path.join(self.folder, "nothing")
        os.makedirs(nothing)
        self.servers.append(Server("--serve", self.wlprof, env=dict(os.environ, PATH=nothing)))
        server = self.servers[0]
        self.assertEqual(server.get()[0], 200)
        status, _, err = server.end()
        self.assertEqual(status, 0)
        self.assertIn(f"cannot start a browser here; open {server.url.strip()} by hand", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["nothing", "p.wlprof"])

    def test_two_profiles(self):
        self.profile_steps("simple")
        other = os.path.join(self.folder, "other.wlprof")
        os.rename(self.wlprof, other)
        self.profile_steps("warps")
        (own, own_parts), (second, second_parts) = payloads(self.write(self.wlprof, other))
        self.assertEqual((own["profile"], second["profile"]), ("p.wlprof", "other.wlprof"))
        server = self.serve("--serve", self.wlprof, other)
        pages = payloads(server.get()[1])
        self.assertEqual([page["profile"] for page, _ in pages], ["p.wlprof", "other.wlprof"])
        for i, (held, parts) in enumerate(((own, own_parts), (second, second_parts))):
            self.assertEqual([row["launch"] for row in pages[i][0]["served"]], [row["launch"] for row in held["explore"]])
            for row in held["explore"]:
                self.assertEqual(server.launch(i, row["launch"]), content(row, parts))
        self.assertEqual(server.get("launch/2/1")[0], 404)

    def test_two_profiles_one_of_which_has_no_steps(self):
        self.profile_steps()
        none = os.path.join(self.folder, "none.wlprof")
        done = run(WARPLENS, "profile", "-q", "-o", none, "--", compile_program("simple"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for options in ([], ["--serve"]):
            done = run(WARPLENS, "explore", "--no-open", *options, self.wlprof, none)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn("none.wlprof does not hold", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=["test_serve.py", *case.sys.argv[4:]])
