"""The window alone: which steps are recorded, against a session that keeps a diary."""

import sys
import threading

from stage import PACKAGE, check, equal

sys.path.insert(0, PACKAGE)

from recording.settings import Settings, of_environment  # noqa: E402
from recording.window import Window  # noqa: E402


class Diary:
    def __init__(self, fails=""):
        self.lines = []
        self.fails = fails

    def _note(self, what):
        self.lines.append(what)
        if what == self.fails:
            raise RuntimeError(what)

    def start(self):
        self._note("start")

    def step(self):
        self._note("step")

    def stop(self):
        self._note("stop")


class Case:
    def __init__(self, fails="", in_the_way=lambda: False, **settings):
        self.diary = Diary(fails)
        self.warm_up = None
        self.closed = []
        self.failed = []
        self.now = 0.0

        def make(warm_up):
            self.warm_up = warm_up
            return self.diary

        self.window = Window(Settings("to", **settings), make, closed=lambda session, steps: self.closed.append(steps), failed=self.failed.append,
                             in_the_way=in_the_way, clock=lambda: self.now)

    def run(self, steps, seconds_each=1.0):
        for _ in range(steps):
            self.now += seconds_each
            self.diary.lines.append(".")
            self.window.step_ended()
        return "".join({".": "."}.get(line, " " + line + " ") for line in self.diary.lines)


def test_records_the_asked_steps_after_the_asked_ones(_):
    case = Case(after_steps=5, steps=3)
    equal(case.run(12), ".... start . step . step . step . stop ....", "what happened at which step")
    equal((case.closed, case.warm_up, case.failed), ([3], True, []), "window")


def test_recording_from_the_first_step_needs_no_warm_up(_):
    case = Case(after_steps=0, steps=2)
    case.window.before_steps()
    equal(case.run(4), " start . step . stop ..", "what happened at which step")
    equal((case.closed, case.warm_up), ([2], False), "window")


def test_after_one_step_that_step_warms_up(_):
    case = Case(after_steps=1, steps=1)
    case.window.before_steps()
    equal(case.run(3), " start . step . stop .", "what happened at which step")
    equal((case.closed, case.warm_up), ([1], True), "window")


def test_a_window_by_time_begins_and_ends_with_a_step(_):
    case = Case(after_steps=None, after_seconds=3.5, steps=None, seconds=2.5)
    equal(case.run(10), ".... start . step . step . step . stop ..", "what happened at which step")
    equal(case.closed, [3], "steps")


def test_of_steps_and_seconds_the_first_to_be_reached_ends(_):
    equal((Case(after_steps=2, steps=2, seconds=100).run(6)), ". start . step . step . stop ..", "by steps")
    equal((Case(after_steps=2, steps=100, seconds=1.5).run(6)), ". start . step . step . stop ..", "by seconds")


def test_a_session_that_fails_ends_the_window_and_nothing_else(_):
    for fails, wanted in (("start", ". start ..."), ("step", ". start . step  stop .."), ("stop", ". start . step . stop .")):
        case = Case(fails=fails, after_steps=2, steps=1)
        equal(case.run(4), wanted, f"what happened when {fails} failed")
        equal((case.closed, len(case.failed), case.window.over, case.window.open), ([], 1, True, False), fails)


def test_closing_early_keeps_whole_steps_and_drops_a_warm_up(_):
    case = Case(after_steps=2, steps=9)
    case.run(4)
    case.window.close()
    equal(case.closed, [2], "steps of a window that was closed early")
    case = Case(after_steps=2, steps=9)
    case.run(1)
    case.window.close()
    equal((case.closed, case.diary.lines[-1]), ([], "stop"), "a window closed while it warms up")


def test_what_is_in_the_way_delays_both_ends(_):
    blocked = [True]
    case = Case(after_steps=2, steps=1, in_the_way=lambda: blocked[0])
    case.run(4)
    check("start" not in case.diary.lines, "a window opened although something was in the way")
    blocked[0] = False
    case.run(1)
    blocked[0] = True
    case.run(3)
    check("stop" not in case.diary.lines, "a window closed although something was in the way")
    blocked[0] = False
    case.run(1)
    equal(case.closed, [3], "steps")


def test_steps_of_other_threads_do_not_move_a_session(_):
    case = Case(after_steps=2, steps=1)
    case.run(1)
    other = threading.Thread(target=case.run, args=(5,))
    other.start()
    other.join()
    equal(case.diary.lines.count("step"), 0, "steps taken by another thread")
    case.run(2)
    equal(case.closed, [1], "steps")


def test_settings_come_from_the_environment(_):
    equal(of_environment({}), None, "without ridge record")
    equal(of_environment({"RIDGE_RECORD_TO": "x"}), Settings("x"), "defaults")
    equal(of_environment({"RIDGE_RECORD_TO": "x", "RIDGE_RECORD_AFTER": "1.5s", "RIDGE_RECORD_SECONDS": "2", "RIDGE_RECORD_WITH": "none,stacks,quiet"}),
          Settings("x", after_steps=None, after_seconds=1.5, steps=None, seconds=2.0, shapes=False, stacks=True, quiet=True), "by time")
    equal(of_environment({"RIDGE_RECORD_TO": "x", "RIDGE_RECORD_STEPS": "7", "RIDGE_RECORD_SECONDS": "2"}).steps, 7, "both ends")
