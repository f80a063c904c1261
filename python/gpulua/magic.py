"""IPython's magics: %%gpulua runs a cell of Lua, %gpulua gives the value of an expression."""
import shlex

from ._state import State

_usage = "%%gpulua [-i names] [-o names] [--device name]: names are separated by commas; -i passes variables in, -o out"


class Magic:
    """All cells work in one state, of the device of the first one that names one."""

    def __init__(self, shell):
        self._shell, self._state, self._device = shell, None, None

    def _open(self, device):
        if self._state is None:
            self._state, self._device = State(device, interruptible=True), device
        elif device is not None and device != self._device:
            raise ValueError(f"expected the device of the first cell, {self._state.device}, got {device}; %reload_ext gpulua begins anew")
        return self._state

    def line(self, line):
        return self._open(None).eval(line)

    def cell(self, line, cell):
        words, inputs, outputs, device = shlex.split(line), [], [], None
        while words:
            word = words.pop(0)
            if word not in ("-i", "-o", "--device") or not words:
                raise ValueError(f"expected {_usage}, got {word}")
            value = words.pop(0)
            if word == "--device":
                device = value
            else:
                (inputs if word == "-i" else outputs).extend(name for name in value.split(",") if name)
        state = self._open(device)
        for name in inputs:
            if name not in self._shell.user_ns:
                raise NameError(f"expected a variable of Python after -i, got {name}")
            state[name] = self._shell.user_ns[name]
        result = state.run(cell, "cell")
        for name in outputs:
            is_table = state.eval(f"getmetatable({name}) == 'a table of columns'")
            self._shell.user_ns[name] = state.table(name) if is_table else state[name]
        return result
