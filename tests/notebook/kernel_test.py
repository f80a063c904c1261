"""jupyter_kernel_test's cases for gpulua-kernel: tests/notebook/with-jupyter.sh runs them."""
import unittest

import jupyter_kernel_test


class GpuluaKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "gpulua"
    language_name = "lua"
    file_extension = ".lua"

    code_hello_world = "print('hello, world')"
    code_stderr = "io.stderr:write('oops\\n')"
    code_stdin = "x = io.read()"
    code_generate_error = "error('no')"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "x = gpu.arange(3)\nx + 1", "result": "int64[3] cpu\n[1 2 3]"},
    ]
    code_display_data = [
        {"code": "display(gpu.rand(3, 4))", "mime": "text/html"},
        {"code": "display(gpu.zeros(8, 8, {dtype = 'float32'}), {colormap = 'viridis'})", "mime": "image/png"},
        {"code": "display(gpu.plot.line(gpu.rand(5)))", "mime": "application/vnd.vegalite.v5+json"},
    ]
    completion_samples = [
        {"text": "gpu.linsp", "matches": {"gpu.linspace"}},
        {"text": "string.form", "matches": {"string.format"}},
        {"text": "gpu.ones(3):resh", "matches": {":reshape"}},
    ]
    complete_code_samples = ["x = 1", "for i = 1, 3 do print(i) end", "1 + 1", "? gpu.sum"]
    incomplete_code_samples = ["for i = 1, 3 do", "x = {1,", "function f()"]
    invalid_code_samples = ["x = = 1", "end"]
    code_inspect_sample = "gpu.sum"
    code_clear_output = "clear_output(true)"
    supported_history_operations = ("tail", "search", "range")
    code_history_pattern = "6*7"


if __name__ == "__main__":
    unittest.main()
