"""check.py GPULUA: gpulua-kernel as Jupyter's own client sees it. Needs Debian's python3-jupyter-client."""
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from fixture import PATIENCE, Cell, KernelManager, Notebook, folder, gpulua


class Kernel(Notebook):
    def test_what_ipython_has_gets_a_hint(self):
        for code, hint in [("%time gpu.ones(3):sum()", "gpu.benchmark"), ("%%bash\nls", "os.execute"), ("!ls", "os.execute"),
                           ("x = 1; %timeit print(x)", "gpu.benchmark"), ("%%gpulua\nx = 1", "here all is Lua")]:
            self.assertIn(hint, self.fails(code)["evalue"])
        # Behind a statement, whose remainder Lua would take; nothing of the cell runs.
        self.run_cell("magics = gpu.ones(3)")
        for line in ["%timeit magics:sum()", "%timeit (magics)", "%time y = magics:sum()", "%%timeit\nmagics:sum()", "%matplotlib inline"]:
            failed = self.fails(f"magics = gpu.zeros(3)\n{line}")
            self.assertIn("lines with % are IPython's: gpu.benchmark(f) measures times", failed["evalue"], line)
            self.assertRegex(failed["evalue"], r"^In\[\d+\]:2: unexpected symbol near '%'", line)
        self.assertEqual(self.run_cell("magics:sum():item()").data["text/plain"], "3")
        self.assertEqual(self.run_cell("five = 17\n  % 12").status, "ok")
        self.assertEqual(self.run_cell("text = [[\n%timeit x]]\n#text").data["text/plain"], "9")
        for code in ["?gpu.sum", "gpu.sum?", "gpu.sum??"]:
            self.assertIn("gpu.sum(x", self.run_cell(code).text())
        self.assertEqual(self.fails("local x = 1\n\ny = nil + 1")["evalue"].split(" ")[0].split(":")[1], "3")
        self.assertEqual(self.run_cell("größe = 3; größe + 1").data["text/plain"], "4")

    def test_what_cells_write_comes_in_order(self):
        cell = self.run_cell("print 'one'; display(2); io.write 'three\\n'; io.stderr:write 'four'; os.execute 'echo five'")
        kinds = [kind for kind, _ in cell.messages if kind in ("stream", "display_data")]
        self.assertEqual(kinds[:2], ["stream", "display_data"])
        self.assertEqual(cell.text(), "one\nthree\nfive\n")
        self.assertEqual(cell.text("stderr"), "four")

    def test_many_prints(self):
        cell = self.run_cell("for i = 1, 10000 do print(i, 'ä€𝄞') end")
        self.assertEqual(cell.text(), "".join(f"{i}\tä€𝄞\n" for i in range(1, 10001)))
        self.assertLess(len(cell.all("stream")), 1000)

    def test_a_text_beyond_the_pipe(self):
        self.assertEqual(len(self.run_cell("io.write(('x'):rep(5e6))").text()), 5000000)

    def test_bytes_that_are_no_text(self):
        self.assertEqual(self.run_cell("print '\\255a'").text(), "\ufffda\n")

    def test_arrays(self):
        self.assertEqual(self.run_cell("gpu.arange(3)").data, {"text/plain": "int64[3] cpu\n[0 1 2]"})
        html = self.run_cell("gpu.arange(6):reshape(2, 3)").data["text/html"]
        self.assertEqual([html.count(f">{i}</td>") for i in range(7)], [1, 1, 1, 1, 1, 1, 0])
        self.assertIn("int64[2x3] cpu", html)
        html = self.run_cell("gpu.arange(1e6):reshape(1000, 1000)").data["text/html"]
        self.assertIn(">999999<", html)
        self.assertLess(len(html), 20000)

    def test_pictures(self):
        png = base64.b64decode(self.run_cell("gpu.zeros(5, 7, 3, {dtype = 'uint8'})").data["image/png"])
        self.assertEqual(png[:8] + png[16:24], b"\x89PNG\r\n\x1a\n" + b"\0\0\0\x07\0\0\0\x05")
        png = base64.b64decode(self.run_cell("display(gpu.rand(4, 9), {colormap = 'viridis'})").data["image/png"])
        self.assertEqual(png[16:24], b"\0\0\0\x09\0\0\0\x04")
        self.assertIn("[colormap]", self.fails("display(gpu.rand(4, 9), {colormap = 'no'})")["evalue"])
        self.assertIn("[display]", self.fails("display(1, {})")["evalue"])

        data = self.run_cell("display(gpu.zeros(5, 7, {dtype = 'uint8'}))").data
        self.assertEqual((base64.b64decode(data["image/png"])[16:26], "text/html" in data), (b"\0\0\0\x07\0\0\0\x05\x08\0", False))
        self.assertIn("clip(0, 255)", self.run_cell("display(gpu.rand(5, 5, 3))").text("stderr"))
        for name, mime, content in [("a.gif", "image/gif", b"GIF89a\0\xff"), ("b.PNG", "image/png", b"\x89"), ("d.svg", "image/svg+xml", b"<svg/>")]:
            path = os.path.join(folder.name, name)
            self.assertIn(f"[display] expected the path of a picture, got {path}: No such file", self.fails(f"display '{path}'")["evalue"])
            with open(path, "wb") as file:
                file.write(content)
            shown = self.run_cell(f"display '{path}'").data[mime]
            self.assertEqual(shown.encode(), content if mime.endswith("xml") else base64.b64encode(content))

    def test_what_is_nil_is_said(self):
        load = "gpu.load '/nowhere/x.csv'"
        self.assertRegex(self.run_cell(f"d = {load}").text("stderr"), r"d is nil since In.[0-9]*.:1: .load. cannot open")
        self.assertIn("d is nil since", self.run_cell("d").text("stderr"))
        self.assertIn("perhaps from", self.fails("d + 1")["evalue"])
        self.assertNotIn("perhaps", self.fails("print(zz + 1)")["evalue"])
        self.assertNotIn("perhaps", self.fails("d = 2; print(zz + d)")["evalue"])
        for code in [f"local e, why = {load}; print(why)", f"d = {load} or 3", f"if not {load} then print 'no' end", "nil", "d = nil", "n = 5\nn == 5",
                     "n ~= 1"]:
            self.assertEqual(self.run_cell(code).text("stderr"), "", code)
        self.assertIn("x:eq(1) compares its elements", self.run_cell("x = gpu.ones(2)\nx == 1").text("stderr"))
        self.assertIn("there is no global pritn; did you mean print?", self.run_cell("x = 1\npritn").text("stderr"))
        self.assertNotIn("there is no global", self.run_cell("local a = 3; a").text("stderr"))

    def test_habits_of_python_get_a_hint(self):
        for code, hint in [("plt.show()", "gpu.plot.line"), ("pd.read_csv 'x'", "gpu.load"), ("pritn(1)", "did you mean print?"), ("input '?'", "io.read"),
                           ("# plot", "comments begin with --"), ("x = 3\n# plot", "comments begin with --"), ("try:\n  x = 1", "pcall"),
                           ("x = 1j", "2i"), ("x = gpu.ones(3, 3)\nx[':', nil]", "gpu.newaxis"), ("t = {a = {1}}\nt:group_by 'a'", "gpu.table(t)")]:
            self.assertIn(hint, self.fails(code)["evalue"], code)
        self.assertIn("menu Kernel", self.run_cell("exit()").text("stderr"))

    def test_charts(self):
        data = self.run_cell("gpu.plot.line(gpu.arange(5), gpu.arange(5) ^ 2, {title = 'squares'})").data
        chart = data["application/vnd.vegalite.v5+json"]
        self.assertEqual(chart["title"], "squares")
        self.assertEqual([row["y"] for row in chart["layer"][0]["data"]["values"]], [0, 1, 4, 9, 16])
        self.assertEqual(base64.b64decode(data["image/png"])[:4], b"\x89PNG")

        self.assertIn("application/vnd.vegalite.v5+json", self.run_cell("gpu.plot.line {1, 2}:show(); 1;").data)
        self.assertIn("+---", self.run_cell("gpu.plot.line {1, 2}:show {height = 5}").text())

    def test_tables(self):
        html = self.run_cell("gpu.benchmark(function() return gpu.ones(9):sum() end, {repeats = 3})").data["text/html"]
        self.assertIn("3 repeats", html)
        html = self.run_cell("gpu.profile(function() return gpu.ones(9):sum() end)").data["text/html"]
        self.assertIn("launches", html)
        self.assertEqual(html.count("<tr>"), 2)
        data = self.run_cell("gpu.table({city = {'<Bern>', 'Oslo'}, price = {2.5, 4}}, {'price', 'city'})").data
        self.assertIn('<td style="text-align:left">&lt;Bern&gt;</td>', data["text/html"])
        self.assertIn('<td style="text-align:right">2.5</td>', data["text/html"])
        self.assertIn("2 rows, 2 columns", data["text/plain"])

    def test_values_of_ones_own(self):
        value = "setmetatable({}, {__display = function() return {['text/html'] = '<b>hi</b>'} end})"
        self.assertEqual(self.run_cell(value).data["text/html"], "<b>hi</b>")
        self.assertIn("__display", self.fails(value.replace("'<b>hi</b>'", "1"))["evalue"])

        for code in [value, f"display({value})"]:
            bad = code.replace("text/html", "application/json")
            self.assertIn("parse error", self.fails(bad)["evalue"])

    def test_progress_and_clearing(self):
        cell = self.run_cell("for i in gpu.progress(3, 'paths') do end")
        self.assertIn("paths: 3 in", cell.text("stderr"))
        self.assertEqual(self.run_cell("clear_output(true)").all("clear_output"), [{"wait": True}])

    def test_help(self):
        self.assertIn("gpu.take(x, indices", self.run_cell("? gpu.take").text())
        self.assertIn("gpu.take(x, indices", self.run_cell("help(gpu.take)").text())

    def test_input(self):
        def answer(_):
            self.client.input("typed")
        self.assertEqual(self.run_cell("io.read()", allow_stdin=True, stdin_hook=answer).data["text/plain"], '"typed"')
        self.assertIn("asks its user", self.fails("io.read()")["evalue"])
        self.assertIn("os.exit", self.fails("os.exit(1)")["evalue"])

    def ask(self, request, kind, *arguments, **options):
        identity = getattr(self.client, request)(*arguments, **options)
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == identity:
                self.assertEqual(message["msg_type"], kind)
                return message["content"]

    def test_completion(self):
        self.run_cell("prices = gpu.ones(3)")
        code = "t = 'ä𝄞'; y = prices:resh"
        reply = self.ask("complete", "complete_reply", code)
        self.assertEqual(reply["matches"], ["prices:reshape"])
        self.assertEqual(code[reply["cursor_start"]:reply["cursor_end"]], "prices:resh")
        self.assertIn("prices.shape", self.ask("complete", "complete_reply", "prices.sh")["matches"])
        self.assertEqual(self.ask("complete", "complete_reply", "gpu.nothing_so")["matches"], [])
        self.assertEqual(self.ask("complete", "complete_reply", "gpu.plot.line({1, 2}, {widt")["matches"], ["width = "])

    def test_inspection(self):
        text = self.ask("inspect", "inspect_reply", "y = gpu.take(x, ", 16)["data"]["text/plain"]
        self.assertIn("gpu.take(x, indices", text)
        self.assertIn("reshape", self.ask("inspect", "inspect_reply", "prices:reshape(3)", 9)["data"]["text/plain"])
        self.run_cell("answer = 42")
        self.assertEqual(self.ask("inspect", "inspect_reply", "answer")["data"]["text/plain"], "number: 42")
        self.assertFalse(self.ask("inspect", "inspect_reply", "no_such_name")["found"])

    def test_completeness(self):
        for code, status in [("x = 1", "complete"), ("for i = 1, 2 do", "incomplete"), ("x = = 1", "invalid"),
                             ("f(", "incomplete"), ("x = [[\n", "incomplete")]:
            self.assertEqual(self.ask("is_complete", "is_complete_reply", code)["status"], status, code)

    def test_expressions(self):
        reply = self.run_cell("w = 2", user_expressions={"good": "w + 1", "bad": "nil + 1"}).reply["user_expressions"]
        self.assertEqual(reply["good"]["data"]["text/plain"], "3")
        self.assertEqual(reply["bad"]["status"], "error")

    def interrupted(self, code, interrupt):
        """The error of a cell that is interrupted once it has printed a line."""
        messages = []

        def see(message):
            messages.append(message)
            if message["msg_type"] == "stream":
                interrupt()
        reply = self.client.execute_interactive(code, timeout=PATIENCE, output_hook=see)
        self.assertEqual(reply["content"]["status"], "error", reply)
        return Cell(reply, messages).all("error")[0]

    endless = {
        "a compiled loop": "print 'runs'; local x = 0; while true do x = x + 1 end",
        "the interpreter": "print 'runs'; while true do load('return ' .. os.time())() end",
        "a kernel": """
            k = gpu.kernel([[__global__ void spin(volatile int* x) { while (x[0] == 0) {} }]], 'spin')
            flag = gpu.zeros(1, {dtype = 'int32'})
            print 'runs'; k{grid = 1, block = 1}(flag); gpu.sync()""",
        "another program": "os.execute 'echo runs; sleep 100'; error 'interrupted!'",
    }

    def test_interrupt_by_a_signal(self):
        for what, code in self.endless.items():
            with self.subTest(what):
                self.assertIn("interrupted", self.interrupted(code, self.manager.interrupt_kernel)["evalue"])
        self.assertEqual(self.run_cell("1 + 1").data["text/plain"], "2")

    def test_interrupt_by_a_message(self):
        def interrupt():
            self.client.control_channel.send(self.client.session.msg("interrupt_request", {}))
            self.assertEqual(self.client.get_control_msg(timeout=PATIENCE)["content"]["status"], "ok")
        for what in ["a compiled loop", "the interpreter", "a kernel"]:
            with self.subTest(what):
                self.assertEqual(self.interrupted(self.endless[what], interrupt)["ename"], "Interrupted")
        self.assertEqual(self.run_cell("1 + 1").data["text/plain"], "2")

    def test_an_error_that_meets_the_interrupt(self):
        # The signal comes in a C function that then fails: by a finalizer, which runs without hooks, in the search for memory.
        error = self.fails('''ffi = require 'ffi'
            ffi.cdef 'int raise(int);'
            do local x = ffi.gc(ffi.new 'int[1]', function() ffi.C.raise(2) end) end
            gpu.zeros(2^50)''')
        self.assertEqual(error["ename"], "Interrupted")
        self.assertIn("interrupted", error["evalue"])

    def test_messages_that_are_none(self):
        def send(channel, kind, content, **header):
            message = self.client.session.msg(kind, {})
            message["content"] = content
            message["header"].update(header)
            getattr(self.client, channel + "_channel").send(message)
        contents = [{}, {"code": 5}, {"code": "gpu.", "cursor_pos": -5}, {"code": "gpu.", "cursor_pos": 10**12},
                    {"code": "x" * 1000000, "cursor_pos": 3}, {"code": "1", "silent": "no", "user_expressions": [1]},
                    {"hist_access_type": 5}, {"comm_id": "none", "data": {}}, {"comm_id": 5, "target_name": 7}]
        kinds = ["execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request", "comm_info_request",
                 "comm_open", "comm_msg", "comm_close", "debug_request", "interrupt_request", "nonsense", ""]
        for channel in ("shell", "control"):
            for kind in kinds:
                for content in contents:
                    send(channel, kind, content)
        # Cells beside the control channel's requests for the same Lua state.
        for _ in range(20):
            send("control", "execute_request", {"code": "while true do end"})
            send("control", "inspect_request", {"code": "gpu.sum", "cursor_pos": 6})
        send("shell", "execute_request", {"code": "1"}, msg_type=5)
        # Both channels answer still. Only then a cell: the interrupts above are for what ran before it, and a failure drops what waits.
        for channel in ("control", "shell"):
            send(channel, "kernel_info_request", {})
            while getattr(self.client, f"get_{channel}_msg")(timeout=PATIENCE)["msg_type"] != "kernel_info_reply":
                pass
        self.assertEqual(self.run_cell("x = 0; for i = 1, 1e6 do x = x + #tostring(i) end; x").data["text/plain"], "5888896")

    def test_interrupts_between_cells_and_twice(self):
        pid = self.manager.provisioner.pid
        os.kill(pid, signal.SIGINT)
        self.assertEqual(self.run_cell("1 + 1").data["text/plain"], "2")

        def twice():
            os.kill(pid, signal.SIGINT)
            os.kill(pid, signal.SIGINT)
        self.assertIn("interrupted", self.interrupted(self.endless["a compiled loop"], twice)["evalue"])
        self.assertEqual(self.run_cell("1 + 1").data["text/plain"], "2")

    def test_an_error_drops_the_cells_behind_it(self):
        first = self.client.execute("os.execute 'sleep 0.2'; error 'first'")
        second = self.client.execute("after_the_error = true")
        for identity, status in [(first, "error"), (second, "aborted")]:
            while True:
                message = self.client.get_shell_msg(timeout=PATIENCE)
                if message["parent_header"].get("msg_id") == identity:
                    break
            self.assertEqual(message["content"]["status"], status)
        self.assertEqual(self.run_cell("after_the_error").data["text/plain"], "nil")


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"  # which has ended, though nobody has asked how
    except FileNotFoundError:
        return False


class Life(unittest.TestCase):
    def test_shutdown_during_a_cell(self):
        manager = KernelManager(kernel_name="gpulua")
        manager.start_kernel(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE)
        process = manager.provisioner.process
        client.execute("while true do end")
        time.sleep(0.2)
        client.shutdown()
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        client.stop_channels()
        manager.cleanup_resources()

    def test_a_killed_jupyter_leaves_no_kernel(self):
        program = """
import os
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name="gpulua")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=30)
print(manager.provisioner.pid, flush=True)
os._exit(0)"""
        pid = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.split()[-1])
        end = time.time() + PATIENCE
        while runs(pid) and time.time() < end:
            time.sleep(0.1)
        self.assertFalse(runs(pid))

    def test_installation(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run([gpulua, "--device", "cpu", "--install-kernel", "--prefix", prefix], check=True,
                           stdout=subprocess.DEVNULL)
            with open(f"{prefix}/share/jupyter/kernels/gpulua/kernel.json") as file:
                spec = json.load(file)
            self.assertEqual(spec["argv"][1:], ["-f", "{connection_file}", "--device", "cpu"])
            self.assertTrue(os.access(spec["argv"][0], os.X_OK))
        for wrong in [["--prefix", "/tmp"], ["--install-kernel", "x.lua"], ["--install-kernel", "-e", "x = 1"]]:
            process = subprocess.run([gpulua, *wrong], capture_output=True)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"--install-kernel", process.stderr)

    def test_the_command_line(self):
        program = os.path.join(os.path.dirname(gpulua), "gpulua-kernel")
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "other.json")
            with open(path, "w") as file:
                file.write("no json")
            for arguments, message in [([], "expected -f connection_file.json, got none"), (["-f"], "a connection file after -f, got none"),
                                       ([path], f"--device name, got '{path}'"), (["--version"], "got '--version'"),
                                       (["-f", "x.json", "--device"], "a device's name after --device, got none"),
                                       (["-f", directory + "/none.json"], "none.json': No such file"),
                                       (["-f", path], f"Jupyter's ports and key in JSON, got '{path}'")]:
                process = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual((process.returncode, process.stdout), (1, ""), arguments)
                self.assertIn(message, process.stderr)
                self.assertEqual("usage: gpulua-kernel -f connection_file.json" in process.stderr, "-f" not in arguments or len(arguments) != 2, arguments)
        process = subprocess.run([program, "--help"], capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertIn("usage: gpulua-kernel -f connection_file.json", process.stdout)

    def test_a_kernel_that_is_started_by_hand(self):
        from jupyter_client import BlockingKernelClient
        from jupyter_client.connect import write_connection_file
        program = os.path.join(os.path.dirname(gpulua), "gpulua-kernel")
        for key in (b"", b"a secret"):  # without one, messages are not signed
            with tempfile.TemporaryDirectory() as directory:
                path, _ = write_connection_file(os.path.join(directory, "connection.json"), key=key)
                process = subprocess.Popen([program, "-f", path, "--device", "cpu"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.addCleanup(process.kill)
                client = BlockingKernelClient(connection_file=path)
                client.load_connection_file()
                client.start_channels()
                self.addCleanup(client.stop_channels)
                client.wait_for_ready(timeout=PATIENCE)
                messages = []
                client.execute_interactive("6 * 7", timeout=PATIENCE, output_hook=messages.append)
                self.assertIn("42", str([message["content"] for message in messages]))
                client.shutdown()
                process.wait(timeout=PATIENCE)


if __name__ == "__main__":
    unittest.main()
