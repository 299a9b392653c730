"""Commands with real processes: what they write, how they end, and that nothing outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from explorer.agent import shell
from explorer.agent.shell import CommandLimits, CommandResult, clean_environment, run_command
from explorer.models.events import CancelToken

QUICK = CommandLimits(seconds=30, grace_s=0.2)


class Run:
    """Commands in one folder, and what they wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cancel = CancelToken()
        self.output = bytearray()

    def __call__(self, command: str, limits: CommandLimits = QUICK) -> CommandResult:
        environment = clean_environment(os.environ)
        return run_command(
            command, self.folder, environment, self.output.extend, self.cancel, limits
        )

    def pids(self) -> list[int]:
        """The processes that a command wrote down."""
        return [int(pid) for pid in (self.folder / "pids").read_text().split()]

    def wait_for_pids(self, count: int) -> None:
        path = self.folder / "pids"
        while not path.exists() or len(path.read_text().split()) < count:
            time.sleep(0.01)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if psutil.pid_exists(pid)]


def test_output_and_errors_come_mixed_with_the_exit_code(run: Run) -> None:
    result = run("echo one; echo two >&2; echo three; exit 3")
    assert run.output == b"one\ntwo\nthree\n"
    assert (result.end, result.code, result.signal, result.left) == ("ended", 3, None, 0)


def test_it_runs_in_the_folder_with_nothing_to_read_and_no_terminal(run: Run) -> None:
    run("pwd; read -r answer; echo read=$?; tty; test -t 1 || echo no terminal")
    assert run.output.decode().split("\n")[:4] == [
        str(run.folder.resolve()), "read=1", "not a tty", "no terminal",
    ]  # fmt: skip


def test_a_command_that_is_not_there_says_so(run: Run) -> None:
    assert run("no-such-program-here").code == 127
    assert b"not found" in run.output


def test_a_signal_is_told(run: Run) -> None:
    result = run("kill -SEGV $$")
    assert (result.code, result.signal) == (None, signal.SIGSEGV)


def test_a_cancel_ends_grandchildren_too(run: Run) -> None:
    def stop() -> None:
        run.wait_for_pids(3)
        run.cancel.cancel()

    threading.Thread(target=stop).start()
    result = run(
        "(sh -c 'echo $$ >>pids; sleep 300 & echo $! >>pids; wait') & echo $$ >>pids; wait"
    )
    assert result.end == "stopped"
    assert alive(run.pids()) == []


def test_a_cancel_ends_what_left_its_group_session_and_environment(run: Run) -> None:
    (run.folder / "far.sh").write_text("echo $$ >>pids; exec sleep 300")

    def stop() -> None:
        run.wait_for_pids(2)
        run.cancel.cancel()

    threading.Thread(target=stop).start()
    result = run("env -i setsid -f sh far.sh; (setsid sh far.sh &) ; sleep 300")
    assert result.end == "stopped"
    assert alive(run.pids()) == []


def test_a_cancel_before_it_starts_ends_it_at_once(run: Run) -> None:
    run.cancel.cancel()
    assert run("sleep 300").end == "stopped"


def test_what_ignores_the_request_to_end_is_killed(run: Run) -> None:
    result = run(
        "trap '' TERM INT HUP; echo $$ >>pids; while :; do sleep 1; done",
        CommandLimits(seconds=0.4, grace_s=0.2),
    )
    assert (result.end, result.signal) == ("timed_out", signal.SIGKILL)
    assert alive(run.pids()) == []


def test_what_cleans_up_when_asked_to_end_may_do_so(run: Run) -> None:
    result = run(
        "trap 'echo tidied; exit 0' TERM; echo ready; sleep 300 & wait",
        CommandLimits(seconds=0.5, grace_s=5),
    )
    assert result.end == "timed_out"
    # A shell just forked for the sleep still has the trap and may say it too.
    assert run.output.splitlines()[:2] == [b"ready", b"tidied"]


def test_a_background_process_does_not_hang_and_is_ended(run: Run) -> None:
    result = run("sleep 300 & echo $! >>pids; echo started")
    assert (result.end, result.code, result.left) == ("ended", 0, 1)
    assert run.output == b"started\n"
    assert alive(run.pids()) == []


def test_a_daemon_is_ended_and_told(run: Run) -> None:
    result = run("setsid -f sh -c 'echo $$ >>pids; exec sleep 300' </dev/null >/dev/null 2>&1;"
                 " while ! test -s pids; do sleep 0.01; done")  # fmt: skip
    assert (result.end, result.left) == ("ended", 1)
    assert alive(run.pids()) == []


def test_the_end_of_a_pipe_may_finish_by_itself(run: Run) -> None:
    result = run("echo early > >(cat; sleep 0.05; echo late)")
    assert run.output == b"early\nlate\n"
    assert result.left == 0


def test_one_that_closes_its_output_is_waited_for(run: Run) -> None:
    result = run("echo before; exec >&- 2>&-; sleep 0.2; touch done; exit 4")
    assert (result.code, run.output) == (4, b"before\n")
    assert (run.folder / "done").exists()


def test_a_hundred_megabytes_pass(run: Run) -> None:
    sizes = []
    result = run_command(
        "head -c 100000000 /dev/zero", run.folder, clean_environment(os.environ),
        lambda block: sizes.append(len(block)), run.cancel, QUICK,
    )  # fmt: skip
    assert (result.code, sum(sizes)) == (0, 100_000_000)


def test_endless_output_is_ended_at_its_limit(run: Run) -> None:
    result = run("echo $$ >>pids; yes", CommandLimits(seconds=30, output=1_000_000, grace_s=0.2))
    assert result.end == "too_much"
    assert len(run.output) == 1_000_000
    assert alive(run.pids()) == []


def test_one_that_kills_its_keeper_leaves_nothing_either(run: Run) -> None:
    result = run("echo $$ >>pids; kill -9 $PPID; sleep 300")
    assert (result.code, result.signal) == (None, None)
    deadline = time.monotonic() + 5
    while alive(run.pids()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive(run.pids()) == []


def test_no_descriptor_is_left_open(run: Run) -> None:
    run("true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run("sleep 0 & true")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_command_inherits_no_descriptor(run: Run) -> None:
    with open(run.folder / "secret", "w+") as file:
        os.set_inheritable(file.fileno(), True)
        run("ls /proc/self/fd | wc -l")
    # Its input, output and errors, and the folder that ls reads.
    assert run.output == b"4\n"


def test_when_this_program_is_killed_so_is_the_command(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from explorer.agent.shell import run_command\n"
        "from explorer.models.events import CancelToken\n"
        "run_command('echo $$ >>pids; setsid sleep 300 & echo $! >>pids; wait',"
        " Path(sys.argv[1]), {'PATH': '/usr/bin:/bin'}, print, CancelToken())\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=root)
    run = Run(tmp_path)
    run.wait_for_pids(2)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while alive(run.pids()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive(run.pids()) == []


def test_a_program_that_died_before_the_first_report_takes_its_command_along(run: Run) -> None:
    report, report_in = os.pipe()
    alive_out, alive_in = os.pipe()
    os.close(report)
    program = Path(shell.__file__).with_name("supervisor.py")
    words = ("/bin/sh", "-c", "echo $$ >>pids; setsid sleep 300 & echo $! >>pids; wait")
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", program, str(report_in), str(alive_out), "0.2", *words],
        cwd=run.folder,
        pass_fds=(report_in, alive_out),
    )
    for descriptor in (report_in, alive_out):
        os.close(descriptor)
    run.wait_for_pids(2)
    os.close(alive_in)
    assert supervisor.wait(30) == 0
    assert alive(run.pids()) == []


SECRETS = {
    "OPENAI_API_KEY": "sk-planted-0000000001",
    "ANTHROPIC_API_KEY": "sk-planted-0000000002",
    "GITHUB_TOKEN": "ghp-planted-00000003",
    "AWS_SECRET_ACCESS_KEY": "planted-00000000004",
    "DB_PASSWORD": "planted-000000000005",
    "SOMETHING_OF_MINE": "planted-000000000006",
    "SSH_AUTH_SOCK": "/tmp/planted-0007",
    "https_proxy": "http://me:planted-0008@proxy:3128",
    "PYTHONPATH": "/opt/sk-planted-0000000001/lib",
}


def test_secrets_of_the_environment_are_not_visible(run: Run) -> None:
    environment = clean_environment({**os.environ, **SECRETS, "LANG": "C.UTF-8"})
    run_command(
        "env; cat /proc/self/environ; cat /proc/$PPID/environ", run.folder, environment,
        run.output.extend, run.cancel, QUICK,
    )  # fmt: skip
    assert b"LANG=C.UTF-8" in run.output
    assert b"planted" not in run.output


def test_programs_are_found_and_nobody_is_asked(run: Run) -> None:
    environment = clean_environment({"PATH": "/my/bin", "HOME": "/home/me", "EDITOR": "vim"})
    assert environment["PATH"] == "/my/bin"
    assert environment["HOME"] == "/home/me"
    assert environment["EDITOR"] == "true"
    assert environment["TERM"] == "dumb"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert clean_environment({})["PATH"]


@pytest.mark.parametrize("path", [".", "", ":", "bin:./x:"])
def test_a_project_brings_no_program_by_the_path(path: str) -> None:
    usual = clean_environment({})["PATH"]
    assert clean_environment({"PATH": path})["PATH"] == usual
    assert clean_environment({"PATH": f"/my/bin:{path}:/other"})["PATH"] == "/my/bin:/other"


def test_nothing_of_the_environment_is_run_or_obeyed_by_the_shell(run: Run) -> None:
    (run.folder / "evil.sh").write_text("echo evil\n")
    (run.folder / "pytest").write_text("#!/bin/sh\necho evil\n")
    (run.folder / "pytest").chmod(0o755)
    evil = {
        "BASH_ENV": "evil.sh", "ENV": "evil.sh", "BASH_FUNC_echo%%": "() { printf evil; }",
        "SHELLOPTS": "keyword:xtrace", "BASHOPTS": "expand_aliases", "PS4": "$(echo evil)",
        "CDPATH": "/", "IFS": "x", "PROMPT_COMMAND": "echo evil", "GIT_EXTERNAL_DIFF": "evil",
        "PYTEST_ADDOPTS": "-p evil", "LD_PRELOAD": "/evil.so", "GIT_CONFIG_COUNT": "1",
    }  # fmt: skip
    environment = clean_environment({**evil, "PATH": ".:/usr/bin:/bin"})
    assert not evil.keys() & environment.keys()
    run_command(
        "echo plain; pytest --version x=1 2>/dev/null; cd usr 2>/dev/null && pwd", run.folder,
        environment, run.output.extend, run.cancel, QUICK,
    )  # fmt: skip
    assert b"evil" not in run.output
    assert run.output.startswith(b"plain\n")
    assert b"/usr\n" not in run.output


def test_a_line_that_begins_with_a_dash_is_no_option_of_the_shell(run: Run) -> None:
    assert run("-v; echo on").code == 0
    assert run.output.endswith(b"on\n")
