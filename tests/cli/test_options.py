#!/usr/bin/env python3
"""Each option of `warplens profile`, from the one table: test_options.py WARPLENS WORK TABLE

TABLE prints the table as JSON (tools/option_table.c). What each type allows is tested closer to it
(tests/program); here: the message and exit status, before the program starts, and that values
reach the collector.
"""

import json
import os
import subprocess
import sys

from case import WARPLENS, Case, main, run

TABLE = json.loads(subprocess.run([sys.argv[3]], capture_output=True, check=True).stdout)
# By type: values that are refused, wherever they come from.
BAD = {
    "number": ["-1", "two", "1.5", "18446744073709551616"],
    "flag": ["2", "yes"],
    "choice": ["some", "AUTO"],
    "pattern": ["regex:(", "regex:[a"],
    "ranges": ["regex:(", "/"],
    "devices": ["voodoo2", "h200,voodoo2"],
    "blocks": ["x", "-1", "2147483647", "0,65535,0", "1,2,3,4"],
    "probes": ["sectors", "trace,", "Trace"],
    "budget": ["soon", "0", "-1s", "5x", "1s,2m"],
}
# By type: a value that is allowed, and is no default.
GOOD = {
    "number": "7",
    "pattern": "regex:^a",
    "ranges": "a@b/*/regex/",
    "devices": "a100",
    "blocks": "1,2,3",
    "probes": "touch",
    "budget": "5s,1G",
    "text": "off",
}


def good_value(row):
    if row["type"] == "choice":
        choices = row["allowed"].replace(" or ", ", ").split(", ")
        return next(c for c in choices if c != row["initial"])
    return GOOD[row["type"]]


class Options(Case):
    def refuse(self, row, source, value, *options, **environment):
        """The message names where the value came from, what is allowed and the value."""
        trace = os.path.join(self.folder, "started")
        done = run(WARPLENS, "profile", "-o", self.wlprof, *options, "--", "touch", trace,
                   env={**os.environ, **environment})
        self.assertEqual(done.returncode, 2, (source, value, done.stderr))
        self.assert_says(done, source, row["allowed"], "not '%s'" % value)
        self.assert_nothing_left()

    def test_bad_values_on_the_command_line(self):
        for row in TABLE:
            if row["name"] and row["argument"]:
                for value in BAD.get(row["type"], []):
                    self.refuse(row, "--" + row["name"], value, "--%s=%s" % (row["name"], value))

    def test_bad_values_in_the_environment(self):
        for row in TABLE:
            if row["variable"]:
                for value in BAD.get(row["type"], []):
                    self.refuse(row, row["variable"], value, **{row["variable"]: value})

    def test_thread_counts(self):
        for value in ("0", "1000000"):
            self.refuse({"allowed": "a number from 1 to 1024"}, "--threads", value, "--threads", value)

    def test_import_refuses_bad_variables(self):
        done = run(WARPLENS, "import", "-o", self.wlprof, self.folder,
                   env={**os.environ, "WARPLENS_REPLAY_BUDGET": "soon"})
        self.assertEqual(done.returncode, 2)
        self.assert_says(done, "WARPLENS_REPLAY_BUDGET", "not 'soon'")

    def test_help_says_every_default(self):
        text = " ".join(run(WARPLENS, "profile", "--help").stdout.split())
        for row in TABLE:
            if row["name"]:
                self.assertIn("--" + row["name"], text)
                if row["initial"] is not None and row["argument"]:
                    self.assertIn("(default: %s)" % row["initial"], text)
                self.assertIn(" ".join(row["help"].replace("`", "").split()), text)

    def environment(self, *options):
        """What a program finds in its environment."""
        done = self.profile("/usr/bin/env", options=["--keep-exitcode", *options],
                            env={**os.environ, "WARPLENS_BACKEND": "emulate"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    def test_values_reach_the_collector(self):
        for row in TABLE:
            if row["name"] and row["variable"] and row["name"] != "backend":
                value = good_value(row)
                found = self.environment("--" + row["name"], value)
                self.assertEqual(found.get(row["variable"]), value)

    def test_repeated_blocks_are_joined(self):
        found = self.environment("--block", "1", "--block", "2,3", "--block", "4,5,6")
        self.assertEqual(found["WARPLENS_BLOCKS"], "1;2,3;4,5,6")

    def test_the_last_value_counts(self):
        self.assertEqual(self.environment("--set", "basic", "--set", "full")["WARPLENS_SET"], "full")


main()
