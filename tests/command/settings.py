#!/usr/bin/env python3
"""The command line takes precedence over PROF_* variables, these over .prof.toml, and that over the user's file."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
import driver


class Settings(driver.EndToEnd):
    def setUp(self):
        super().setUp()
        (self.folder / "repository/inner").mkdir(parents=True)
        (self.folder / "repository/.git").mkdir()
        (self.folder / "home/prof").mkdir(parents=True)
        self.project = self.folder / "repository/.prof.toml"
        self.user = self.folder / "home/prof/config.toml"

    def prof(self, *arguments, status=0, **variables):
        env = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "home"), **variables}
        done = subprocess.run([str(driver.PROF), *arguments], cwd=self.folder / "repository/inner", env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def format_of(self, *arguments, **variables):
        """Returns the format that `prof list repairs` prints."""
        shown = self.prof("list", "repairs", *arguments, **variables).stdout
        return "json" if shown.startswith("{") else "names" if "\nlocks\n" in shown else "text"

    def test_order(self):
        self.assertEqual(self.format_of(), "text")
        self.user.write_text('[list.repairs]\nformat = "json"\n')
        self.assertEqual(self.format_of(), "json")
        self.project.write_text('[list.repairs]\nformat = "names"\n')
        self.assertEqual(self.format_of(), "names")
        self.assertEqual(self.format_of(PROF_LIST_REPAIRS_FORMAT="json"), "json")
        self.assertEqual(self.format_of("--format=text", PROF_LIST_REPAIRS_FORMAT="json"), "text")

    def test_a_run_takes_its_settings(self):
        self.project.write_text('[run]\nevent = ["CPUTIME@123", "REALTIME"]\nno-analyze = true\n')
        self.user.write_text('[run]\noutput = "m-%p"\n')
        done = self.prof("run", driver.sample("hot_loop"))
        self.assertIn("measurements are in", done.stderr)
        directory, = (self.folder / "repository/inner").glob("m-*")
        self.assertRegex(directory.name, r"^m-\d+$")
        report = json.loads(self.prof("report", str(directory), "--format=json", "-q").stdout)
        sampling = report["sampling"]["metrics"]
        self.assertEqual(set(sampling), {"CPUTIME", "REALTIME"})
        self.assertEqual(sampling["CPUTIME"]["requested_hz"], 123)
        quiet = self.prof("run", "-q", "-o", str(self.folder / "q"), "--no-analyze=false", driver.sample("hot_loop"))
        self.assertNotIn("prof:", quiet.stderr)
        self.assertTrue((self.folder / "q/database/meta.db").exists())

    def test_an_export_takes_its_format(self):
        directory = str(self.folder / "m")
        self.prof("run", "-q", "-o", directory, driver.sample("hot_loop"))
        line, = self.prof("export", directory, status=125).stderr.splitlines()
        self.assertIn("--format is missing: use one of collapsed, ", line)
        self.project.write_text('[export]\nformat = "json"\n')
        self.assertEqual(json.loads(self.prof("export", directory).stdout)["schema"], "prof-export/1")
        self.assertIn("stack", self.prof("export", directory, PROF_EXPORT_FORMAT="csv").stdout.splitlines()[0])
        stacks = self.prof("export", directory, "--format=collapsed", PROF_EXPORT_FORMAT="csv").stdout
        self.assertRegex(stacks.splitlines()[0], r";.* \d+$")
        line, = self.prof("export", directory, status=125, PROF_EXPORT_FORMAT="cvs").stderr.splitlines()
        self.assertIn("PROF_EXPORT_FORMAT: ", line)
        self.assertIn("did you mean csv?", line)

    def test_config_shows_what_holds(self):
        self.user.write_text('[report]\nview = "flat"\n')
        shown = json.loads(self.prof("config", "--format=json", PROF_REPORT_VIEW="top-down").stdout)
        self.assertEqual(shown["schema"], "prof-config/1")
        self.assertEqual([(row["values"], row["effective"]) for row in shown["settings"]],
                         [(["top-down"], True), (["flat"], False)])
        self.assertIn("run.event", self.prof("config", "--all").stdout)

    def test_one_line_for_what_is_wrong(self):
        self.project.write_text('[report]\nview = "flt"\n')
        line, = self.prof("report", "nowhere", status=125).stderr.splitlines()
        self.assertIn(f"{self.project}:2: ", line)
        self.assertIn("did you mean flat?", line)
        self.prof("help")  # works in spite of it, to help the user
        self.project.write_text("[report]\nviw = 1\n")
        line, = self.prof("report", "nowhere", status=125).stderr.splitlines()
        self.assertIn("did you mean report.view?", line)

    def test_a_cloned_project_cannot_choose_what_is_written(self):
        directory = str(self.folder / "m")
        self.prof("run", "-q", "-o", directory, driver.sample("hot_loop"))
        login = self.folder / "repository/.bashrc"
        login.write_text("# the user's\n")
        self.project.write_text('[export]\nformat = "collapsed"\noutput = "../.bashrc"\nforce = true\n')
        done = self.prof("export", directory)
        self.assertRegex(done.stdout.splitlines()[0], r";.* \d+$")
        self.assertEqual(login.read_text(), "# the user's\n")
        second, first = sorted(done.stderr.splitlines(), key=lambda line: "export.output" in line)
        self.assertIn(f"{self.project}:3: export.output is ignored", first)
        self.assertIn("set it with --output, PROF_EXPORT_OUTPUT or your own config.toml", first)
        self.assertIn(f"{self.project}:4: export.force is ignored", second)
        rows = json.loads(self.prof("config", "--format=json").stdout)["settings"]
        self.assertEqual([(row["key"], row["refused"], row["effective"]) for row in rows],
                         [("export.force", True, False), ("export.format", False, True), ("export.output", True, False)])
        self.user.write_text(f'[export]\noutput = "{self.folder}/mine"\n')
        self.prof("export", directory)
        self.assertRegex((self.folder / "mine").read_text().splitlines()[0], r";.* \d+$")

    def test_a_fifo_in_the_place_of_a_file_is_left_out(self):
        os.mkfifo(self.project)
        done = self.prof("list", "repairs")
        self.assertIn("not a regular file", done.stderr)
        self.assertTrue(done.stdout.startswith("layout "), done.stdout)

    def test_a_link_of_somebody_else_is_left_out(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make a link that belongs to somebody else")
        own = self.folder / "own.toml"
        own.write_text('[list.repairs]\nformat = "json"\n')
        self.project.symlink_to(own)
        self.assertEqual(self.format_of(), "json")
        os.lchown(self.project, driver.NOBODY, driver.NOBODY)
        done = self.prof("list", "repairs")
        self.assertTrue(done.stdout.startswith("layout "), done.stdout)
        self.assertIn("the link belongs to another user", done.stderr)

    def test_a_misspelt_variable_is_mentioned(self):
        self.assertIn("did you mean PROF_LIST_EVENTS_FORMAT?",
                      self.prof("list", "events", PROF_LIST_EVENTS_FROMAT="json").stderr)

    def test_a_file_of_somebody_else_is_left_out(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to give a file away")
        self.project.write_text('[list.repairs]\nformat = "json"\n')
        os.chown(self.project, driver.NOBODY, driver.NOBODY)
        done = self.prof("list", "repairs")
        self.assertTrue(done.stdout.startswith("layout "), done.stdout)
        self.assertIn("belongs to another user", done.stderr)


driver.main()
