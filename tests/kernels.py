"""Kernels of notebooks that are tested, forked from a process that has imported what takes long.

A kernel needs two seconds of processor to start, nearly all of them to import torch and matplotlib. Nothing of the
project is imported before the fork, so a notebook runs what lies there, and receipts see what it reads.
"""

import functools
import json
import logging
import multiprocessing
import os
import subprocess
import sys
from multiprocessing import forkserver
from multiprocessing.util import Finalize
from unittest import mock

import nbval.plugin
from jupyter_client.provisioning import local_provisioner

SLOW = ["torch", "matplotlib.pyplot", "ipykernel.kernelapp", "ipywidgets"]
# ipykernel says so to every kernel, but matplotlib asks when it is imported
BACKEND = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}


@functools.cache
def forks():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SLOW)
    with mock.patch.dict(os.environ, BACKEND):
        forkserver.ensure_running()
    return context


@functools.cache
def fresh_path():
    """Where a Python that has just been started looks for modules: pytest has added to this one's."""
    asked = subprocess.run([sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"], capture_output=True, check=True)
    return json.loads(asked.stdout)


def serve(command, folder, environment, path, started):
    """Be the kernel that `command` would have started."""
    os.setsid()  # jupyter_client ends it by a signal to its group
    started.send(True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    sys.path[:], sys.argv[:] = path, command[2:]  # after python -m

    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance()


class Forked:
    """What jupyter_client asks of a process that it has started."""

    stdin = stdout = stderr = None

    def __init__(self, command, cwd, env):
        started, says = multiprocessing.Pipe(duplex=False)
        self.process = forks().Process(target=serve, args=(command, cwd, env, fresh_path(), says))
        self.process.start()
        started.recv()
        self.pid = self.process.pid
        Finalize(self, self.process.kill, exitpriority=10)  # none outlives the tests
        self.kill, self.terminate = self.process.kill, self.process.terminate

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        if self.poll() is None:  # who has ended is told nothing, as subprocess does
            os.kill(self.pid, number)


def launch(command, cwd=None, env=None, **others):
    if command[1:3] != ["-m", "ipykernel_launcher"]:
        return start_anew(command, cwd=cwd, env=env, **others)
    return Forked(command, cwd or os.getcwd(), {**(os.environ if env is None else env)})


start_anew = local_provisioner.launch_kernel
if sys.platform == "linux":  # elsewhere a fork of a process that has loaded libraries is not safe
    local_provisioner.launch_kernel = launch


def started(*arguments, **options):
    """As nbval starts a kernel, and once more if it does not come: its ports are chosen a moment before it takes them, and
    now and then another program has one by then, as browsers do that open connections without end."""
    try:
        return start(*arguments, **options)
    except RuntimeError as error:
        logging.getLogger(__name__).warning("a kernel is started once more: %s", error)
        return start(*arguments, **options)


start = nbval.plugin.RunningKernel
nbval.plugin.RunningKernel = started
