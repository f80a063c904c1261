-- gpu.annotate, gpu.range_push, gpu.range_pop and gpu.profiler: ranges with names, traces, and the tools of the device's maker.
-- In sandboxes: annotate, range_push, range_pop
local gpu, _, core, import = ...
local checks = import "checks"
local profiler = gpu.profiler

local function check_name(op, what, name)
  if type(name) ~= "string" then core.fail(op, what, name) end
end

--- gpu.annotate(name, fn, ...)
--- The results of fn(...), which runs in a range of that name.
function gpu.annotate(name, fn, ...)
  check_name("annotate", "the range's name first, a string", name)
  checks.lua_function("annotate", "a function to run", fn)
  local range = core.enter_range(name)
  local function finish(ok, ...)
    core.leave_range(range)
    if not ok then error((...), 0) end
    return ...
  end
  return finish(core.protected(fn, ...))
end

--- gpu.range_push(name)
--- Begins a range, which gpu.range_pop() ends.
function gpu.range_push(name)
  check_name("range_push", "the range's name, a string", name)
  core.push_range(name)
end

--- gpu.range_pop()
--- Ends the range that the last gpu.range_push has begun.
function gpu.range_pop() core.pop_range() end

--- gpu.profiler.trace(path, fn, ...)
--- The results of fn(...), and a trace of it in the file.
function profiler.trace(path, fn, ...)
  check_name("profiler.trace", "the name of the trace's file first, a string", path)
  checks.lua_function("profiler.trace", "a function to run", fn)
  local trace = core.start_trace(path)
  local function finish(ok, ...)
    if ok then
      core.finish_trace(trace, true, ...)
    else
      core.finish_trace(trace, false)
      error((...), 0)
    end
    return ...
  end
  return finish(core.protected(fn, ...))
end

--- gpu.profiler.start()
--- A tool such as Nsight Systems collects from now on.
function profiler.start() core.start_profiler() end

--- gpu.profiler.stop()
--- The tool collects no more.
function profiler.stop() core.stop_profiler() end
