"""IPython's magics: %%gpulua runs a cell of Lua, %gpulua a line. The last expression is the result."""
import re

from ._errors import UndefinedError
from ._state import State

_usage = "[-i names] [-o names] [--device name]: names are separated by commas; -i passes variables in, -o out"
_option = re.compile(r"\s*(-i|-o|--device)\s+(\S+)(?:\s+|$)")

# The code from a line with one of IPython's magics on, which Lua refuses there, behind as many line ends. Else the code with a return
# before its last expression, which begins the code, or a line, or follows a semicolon; the code itself if there is none. Of `return f()`
# Lua keeps no frame, and errors would have no line.
_with_result = """function(code)
  local function parses(text) return loadstring(text) ~= nil end
  local function returned(text) return "return (function(...) return ... end)(" .. text .. "\\n)" end
  for at in code:gmatch "()\\n%%%%?%a" do
    local before = code:sub(1, at)
    if parses(before) then return before:gsub("[^\\n]", "") .. code:sub(at + 1) end
  end
  local last = #code + 1
  while last > 0 do
    last = last - 1
    local at = code:sub(last, last)
    local rest = code:sub(last + 1)
    if last == 0 or at == ";" or at == "\\n" and rest:find "^%s*[%w_]" then
      local statements = code:sub(1, last)
      if parses("return " .. rest) and parses(statements) and rest:find "%S" and not rest:find "^%s*return%f[^%w_]" then
        if parses(statements .. " " .. returned(rest)) then return statements .. " " .. returned(rest) end
      end
    end
  end
  return code
end"""


class Magic:
    """All cells work in one state, of the device of the first one that names one."""

    def __init__(self, shell):
        self._shell, self._state, self._device = shell, None, None

    def _open(self, device):
        if self._state is None:
            self._state, self._device = State(device, interruptible=True), device
        elif device is not None and device != self._device:
            raise ValueError(f"[%gpulua] expected the device of the first cell, {self._state.device}, got {device}; %reload_ext gpulua begins anew")
        return self._state

    def line(self, line):
        given, code = _options(line)
        return self._run(given, code, "line")

    def cell(self, line, cell):
        given, rest = _options(line)
        if rest:
            raise ValueError(f"[%gpulua] expected %%gpulua {_usage}, got {rest}")
        return self._run(given, cell, "cell")

    def _run(self, given, code, name):
        inputs, outputs = ([name for value in given[option] for name in value.split(",") if name] for option in ("-i", "-o"))
        state = self._open(given["--device"][-1] if given["--device"] else None)
        for name in inputs:
            if name not in self._shell.user_ns:
                raise NameError(f"[%gpulua] expected a variable of Python after -i, got {name}")
            state[name] = self._shell.user_ns[name]
        whole = code.rstrip()
        result = state.run(state._lua(_with_result)(whole[:-1] if whole.endswith(";") else whole), name)
        for name in outputs:
            self._shell.user_ns[name] = _output(state, name, code)
        return None if whole.endswith(";") else result


def _options(line):
    """The values of each option at the beginning of the line, and the rest of it."""
    given, at = {"-i": [], "-o": [], "--device": []}, 0
    while found := _option.match(line, at):
        given[found[1]].append(found[2])
        at = found.end()
    return given, line[at:].strip()


def _output(state, name, code):
    try:
        value = state[name]
    except UndefinedError:
        is_local = re.search(rf"\blocal\b[\w\s,]*\b{re.escape(name)}\b", code)
        hint = "; a local variable ends with its cell, without local it stays" if is_local else ""
        raise NameError(f"[%gpulua] expected a variable of Lua after -o, got {name}, which is nil{hint}") from None
    return state.table(name) if state.eval(f"getmetatable({name}) == 'a table of columns'") else value
