"""Lua's functions, tables and other values as Python has them: a table crosses as a list of tokens, a line each, with its texts in one
more text and its arrays and functions as values beside them."""
import json
import math
from collections.abc import Mapping

from . import _values
from ._interrupts import stoppable
from ._library import lib, own_name

_most_depth = 100

# A token begins with the letter of its kind: z nil, t true, f false, n number, u uint64_t as two halves, c complex, s the length of a text in
# bytes, h the next of the handles, l the length of a list, d the number of pairs of a key and a value.
_bridge = """
local most_depth, chunk = ...
-- A script may give these names other values.
local error, getmetatable, pairs, pcall, select, tonumber, tostring = error, getmetatable, pairs, pcall, select, tonumber, tostring
local type, unpack, concat, least = type, unpack, table.concat, math.min

local function reader(tokens, texts, ...)
  local handles, handle, at, next_token = {...}, 0, 1, tokens:gmatch("[^\\n]+")
  local read = {
    z = function() return nil end, t = function() return true end, f = function() return false end,
    n = function(text) return tonumber(text) end,
    u = function(text) local high, low = text:match("(%d+) (%d+)"); return 4294967296ULL * tonumber(high) + tonumber(low) end,
    c = function(text) local re, im = text:match("(%S+) (%S+)"); return gpu.complex(tonumber(re), tonumber(im)) end,
    s = function(text) local from = at; at = at + text; return texts:sub(from, at - 1) end,
    h = function() handle = handle + 1; return handles[handle] end,
  }
  local function value()
    local token = next_token()
    return read[token:sub(1, 1)](token:sub(2))
  end
  function read.l(text)
    local list = {}
    for i = 1, tonumber(text) do list[i] = value() end
    return list
  end
  function read.d(text)
    local fields = {}
    for _ = 1, tonumber(text) do
      local key = value()
      fields[key] = value()
    end
    return fields
  end
  return value
end

local function call(f, count, tokens, texts, ...)
  local value, arguments = reader(tokens, texts, ...), {}
  for i = 1, count do arguments[i] = value() end
  return f(unpack(arguments, 1, count))
end

local function made(_, tokens, texts, ...)
  return reader(tokens, texts, ...)()
end

local function number_text(x)
  return ("%.17g"):format(x)
end

-- What getmetatable says of the library's tables that hold nothing but results.
local of_results = {["a table of results"] = true, ["a list of results"] = true, ["a list of sizes"] = true, ["times"] = true,
  ["a profile"] = true}

-- Whether it is written as a list of its elements, or its pairs.
local function is_plain(value)
  local meta = getmetatable(value)
  return meta == nil or of_results[meta] or false
end

local function write(value)
  local tokens, texts, handles, above = {}, {}, {}, {}
  local put
  local function put_table(t)
    if above[t] then error("[values] expected a table without cycles, got one that has itself inside", 0) end
    above[t] = true
    above.depth = (above.depth or 0) + 1
    if above.depth > most_depth then error("[values] expected tables in up to " .. most_depth .. " levels, got more", 0) end
    local count, length = 0, #t
    for _ in pairs(t) do count = count + 1 end
    if count == length then
      tokens[#tokens + 1] = "l" .. length
      for i = 1, length do put(t[i]) end
    else
      tokens[#tokens + 1] = "d" .. count
      for key, element in pairs(t) do
        put(key)
        put(element)
      end
    end
    above[t], above.depth = nil, above.depth - 1
  end
  function put(v)
    local kind, token = type(v), nil
    if kind == "number" then token = "n" .. number_text(v)
    elseif kind == "boolean" then token = v and "t" or "f"
    elseif kind == "nil" then token = "z"
    elseif kind == "string" then
      texts[#texts + 1] = v
      token = "s" .. #v
    elseif kind == "table" and is_plain(v) then return put_table(v)
    elseif kind == "cdata" then
      local text = tostring(v)
      if text:find "ULL$" then token = "u" .. tonumber(v / 4294967296ULL) .. " " .. tonumber(v % 4294967296ULL)
      elseif text:find "[iI]$" then token = "c" .. number_text(v.re) .. " " .. number_text(v.im) end
    end
    if not token then
      handles[#handles + 1] = v
      token = "h"
    end
    tokens[#tokens + 1] = token
  end
  put(value)
  return tokens, texts, handles
end

local function written(value)
  local good, tokens, texts, handles = pcall(write, value)
  if not good then return tokens end
  if tokens[1] == "h" then return nil end
  local from = 1
  return concat(tokens, "\\n"), concat(texts), #handles, function()
    local first = from
    from = from + chunk
    return unpack(handles, first, least(from - 1, #handles))
  end
end

-- A function of Python's takes its arguments, and gives its results, after whether they are tokens.
local function for_lua(callback)
  local function same(...) return ... end
  local function results(good, are_tokens, ...)
    if not good then error(are_tokens, 0) end -- with the script's line
    if are_tokens then return call(same, ...) end
    return ...
  end
  return function(...)
    local count = select("#", ...)
    for i = 1, count do
      local kind = type((select(i, ...)))
      if kind == "table" or kind == "cdata" then
        local tokens, texts, handles = write({n = count, ...})
        return results(pcall(callback, true, concat(tokens, "\\n"), concat(texts), unpack(handles)))
      end
    end
    return results(pcall(callback, false, ...))
  end
end

return call, made, written, for_lua, function(object, key) return object[key] end, tostring
"""


_forms = """function(value)
  local meta = (debug and debug.getmetatable or getmetatable)(value)
  local display = type(value) ~= "string" and type(meta) == "table" and rawget(meta, "__display")
  return display and display(value) or nil
end"""


def _data(mime, text):
    """A form as IPython has it: JSON as objects, pictures as bytes."""
    if mime.endswith("json"):
        return json.loads(text)
    return text.encode(errors="surrogateescape") if mime.startswith("image/") and not mime.endswith("xml") else text


class Object:
    """A value of Lua that Python has nothing for, such as a kernel or a sparse matrix. Calls take it; x[name] is a field or a method, and
    x(...) calls it where Lua can."""

    def __init__(self, state, handle):
        self._state, self._handle = state, handle

    def __del__(self):
        lib.function_release(self._handle)

    @classmethod
    def at(cls, state, handle):
        """With one more owner of the handle."""
        lib.function_retain(handle)
        return cls(state, handle)

    def __call__(self, *arguments, deadline=0, **options):
        return stoppable(self._state._handle, lambda: self._state._call(self._handle, arguments, options, deadline))

    def at_once(self, *arguments, **options):
        """A call that Ctrl-C does not stop, which takes less time: for short ones."""
        return self._state._call(self._handle, arguments, options, 0)

    def __getitem__(self, key):
        return self._state._bridge.index(self, key)

    def __getattr__(self, name):
        kind = type(self).__name__
        if name.startswith("_"):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        raise AttributeError(f"[{kind}] expected x[{name!r}], a field or a method of Lua's, got x.{name}; x[{name!r}](x, arguments) calls a method")

    def __repr__(self):
        return f"gpulua.{type(self).__name__} {self._state._bridge.text(self)}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        """For IPython: the forms in which notebooks show the value, such as those of a chart."""
        forms = self._state._lua(_forms)(self)
        return {"text/plain": repr(self), **{mime: _data(mime, text) for mime, text in (forms or {}).items()}}

    # A copy is the object itself, as of Python's functions.
    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __reduce_ex__(self, _):
        raise TypeError("[pickle] expected a value that can be pickled, got one of a state")


class Function(Object):
    """A Lua function. Calls take and give None, booleans, numbers, text, arrays, functions, and lists and dicts of these; keyword
    arguments are the table of options at the end. deadline is in seconds."""


class Tokens:
    """The text of values on their way to Lua. `is_handle(value)`: whether it crosses by itself, beside the tokens."""

    def __init__(self, is_handle):
        self._is_handle, self._lines, self._texts, self.handles, self._above = is_handle, [], [], [], []

    def put(self, value):
        write = _writers.get(type(value))
        if write is not None and not self._is_handle(value):
            self._lines.append(write(value))
        elif isinstance(value, (str, bytes)):
            data = value.encode(errors="surrogateescape") if isinstance(value, str) else value
            self._texts.append(data)
            self._lines.append(f"s{len(data)}")
        elif isinstance(value, (list, tuple)):
            self._nested(value, f"l{len(value)}", self._put_list)
        elif isinstance(value, Mapping):
            self._nested(value, f"d{sum(element is not None for element in value.values())}", self._put_pairs)
        elif self._is_handle(value):
            self.handles.append(value)
            self._lines.append("h")
        else:
            self.put(_values.plain(value))

    def _nested(self, value, token, put):
        if any(value is outer for outer in self._above):
            raise ValueError("[values] expected lists and dicts without cycles, got one that has itself inside")
        if len(self._above) == _most_depth:
            raise ValueError(f"[values] expected lists and dicts in up to {_most_depth} levels, got more")
        self._lines.append(token)
        self._above.append(value)
        put(value)
        self._above.pop()

    def _put_list(self, values):
        for i, value in enumerate(values):
            if value is None:
                has_numbers = any(isinstance(other, (int, float)) and not isinstance(other, bool) for other in values)
                raise TypeError(f"[values] expected values in a list for Lua, whose tables hold no nil, got None at position {i}" +
                                ("; float('nan') stands for a missing number" if has_numbers else ""))
            self.put(value)

    def _put_pairs(self, values):
        for key, value in values.items():
            if not isinstance(key, (str, bytes, int, float)) or key != key:
                raise TypeError(f"[values] expected text or numbers as keys of a dict for Lua, got {key!r}")
            if value is not None:  # a field that is nil
                self.put(key)
                self.put(value)

    def texts(self):
        return "\n".join(self._lines), b"".join(self._texts)


def _integer(value):
    return f"n{value}" if abs(_values.check_integer(value)) <= 2**53 else f"u{value >> 32} {value % 2**32}"


def _float(value):
    return f"n{value!r}" if math.isfinite(value) else "nnan" if value != value else "ninf" if value > 0 else "n-inf"


_writers = {
    type(None): lambda _: "z",
    bool: lambda value: "t" if value else "f",
    int: _integer,
    float: _float,
    complex: lambda value: f"c{value.real!r} {value.imag!r}",
}


def from_tokens(text, texts, handles):
    """The value that Lua has written; `handles` gives the arrays and functions."""
    lines, data, at = iter(text.split("\n")), texts.encode(errors="surrogateescape"), 0

    def value():
        nonlocal at
        token = next(lines)
        kind, rest = token[0], token[1:]
        if kind == "n":
            return float(rest)
        if kind == "s":
            begin, at = at, at + int(rest)
            return data[begin:at].decode(errors="surrogateescape")
        if kind == "l":
            return [value() for _ in range(int(rest))]
        if kind == "d":
            return {key(value()): value() for _ in range(int(rest))}
        if kind == "h":
            return next(handles)
        if kind == "c":
            return complex(*map(float, rest.split()))
        if kind == "u":
            high, low = rest.split()
            return (int(high) << 32) + int(low)
        return {"z": None, "t": True, "f": False}[kind]

    def key(found):
        return int(found) if isinstance(found, float) and found.is_integer() else found

    return value()


class Bridge:
    """The functions of a state that read and write tokens."""

    chunk = 60  # handles that cross at once

    def __init__(self, state):
        self._state = state
        functions = state.load(_bridge, own_name)(_most_depth, self.chunk)
        for function in functions:
            function._state = state
        self.call, self._made, written, for_lua, index, text = functions
        self.written, self.for_lua, self.index, self.text = written.at_once, for_lua.at_once, index.at_once, text.at_once

    def made(self, *tokens):
        """The Object of one value."""
        return self._state._call(self._made._handle, tokens, None, 0, reads_tables=False)

    def to_python(self, value):
        """What Python has for an Object: itself if there is nothing."""
        result = self.written(value)
        if result is None:
            return value
        if isinstance(result, str):
            raise ValueError(result)
        text, texts, count, more = result

        def handles():
            for _ in range(-(-int(count) // self.chunk)):
                some = more()
                yield from some if isinstance(some, tuple) else (some,)
        return from_tokens(text, texts, handles())
