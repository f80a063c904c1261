"""A notebook of gpulua-kernel, as Jupyter's own client sees it, for the tests beside this file. argv[1] is the command gpulua."""
import os
import subprocess
import sys
import tempfile
import unittest

gpulua = sys.argv.pop(1)
folder = tempfile.TemporaryDirectory()
os.environ["JUPYTER_DATA_DIR"] = folder.name
os.environ["IPYTHONDIR"] = folder.name
os.environ.setdefault("GPULUA_DEVICE", "cpu")
subprocess.run([gpulua, "--install-kernel"], check=True, stdout=subprocess.DEVNULL)

from jupyter_client.manager import KernelManager  # noqa: E402 (reads the environment)

PATIENCE = 30


class Cell:
    """What a cell gave."""

    def __init__(self, reply, messages):
        self.status = reply["content"]["status"]
        self.reply = reply["content"]
        self.messages = [(m["msg_type"], m["content"]) for m in messages]

    def all(self, kind):
        return [content for type_, content in self.messages if type_ == kind]

    def text(self, stream="stdout"):
        return "".join(c["text"] for c in self.all("stream") if c["name"] == stream)

    @property
    def data(self):
        return (self.all("execute_result") or self.all("display_data"))[0]["data"]


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manager = KernelManager(kernel_name="gpulua")
        cls.manager.start_kernel()
        cls.client = cls.manager.client()
        cls.client.start_channels()
        cls.client.wait_for_ready(timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel(now=True)

    def run_cell(self, code, **options):
        messages = []
        options.setdefault("allow_stdin", False)
        reply = self.client.execute_interactive(code, timeout=PATIENCE, output_hook=messages.append, **options)
        return Cell(reply, messages)

    def fails(self, code):
        cell = self.run_cell(code)
        self.assertEqual(cell.status, "error")
        error = cell.all("error")[0]
        self.assertEqual([cell.reply[name] for name in error], list(error.values()))
        return error
