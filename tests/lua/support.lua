-- Helpers of the specs.
local support = {}

--- The call fails, and its message holds `text` as it is. Gives the message.
function support.fails(text, fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok, "expected an error with: " .. text)
  message = tostring(message)
  if not message:find(text, 1, true) then error("expected an error with: " .. text .. "\ngot: " .. message, 2) end
  return message
end

--- Numbers, or tables of them at any depth, that differ by at most `tolerance` of the expected one, or of 1.
function support.near(expected, got, tolerance, where)
  tolerance, where = tolerance or 1e-6, where or "value"
  if type(expected) ~= "table" then
    local limit = tolerance * math.max(1, math.abs(expected))
    if not (math.abs(expected - got) <= limit) then
      error(("%s: expected %.9g, got %.9g"):format(where, expected, got), 2)
    end
    return
  end
  if type(got) ~= "table" or #expected ~= #got then
    error(("%s: expected %d items, got %s"):format(where, #expected, type(got) == "table" and #got or tostring(got)), 2)
  end
  for i, item in ipairs(expected) do support.near(item, got[i], tolerance, where .. "[" .. i .. "]") end
end

--- Two arrays of one dtype and shape with equal elements.
function support.same(expected, got, where)
  local gpu = require "gpu"
  assert(expected.dtype == got.dtype and tostring(expected.shape) == tostring(got.shape), where)
  if not gpu.array_equal(expected, got) then
    error(("%s: expected %s\ngot %s"):format(where or "array", tostring(expected), tostring(got)), 2)
  end
end

--- n values, fn(1) to fn(n).
function support.series(n, fn)
  local t = {}
  for i = 1, n do t[i] = fn(i) end
  return t
end

--- Launches a source's one kernel, `k`, on arrays; gives the table of the first.
function support.run_kernel(source, launch, out, ...)
  require("gpu").kernel(source, "k")(launch)(out, ...)
  return out:table()
end

--- Bytes in use on the current device after a full garbage collection.
function support.used()
  collectgarbage()
  collectgarbage()
  return require("gpu").memory().used
end

--- Path of the command that runs this.
function support.command()
  local ffi = require "ffi"
  pcall(ffi.cdef, "intptr_t readlink(const char*, char*, size_t);")
  local target = ffi.new "char[4096]"
  return ffi.string(target, ffi.C.readlink("/proc/self/exe", target, ffi.sizeof(target)))
end

--- Runs a script in a process of its own, with `environment` ("NAME=value ...") set. Gives all that it printed, on both of
--- its outputs, and its exit status. `path`: the script's file, where its name matters.
function support.run(script, environment, path)
  path = path or os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local pipe = io.popen(("%s %s %s 2>&1; echo status $?"):format(environment or "", support.command(), path))
  local output, status = pipe:read("*a"):match "^(.*)status (%d+)\n$"
  pipe:close()
  os.remove(path)
  return output, tonumber(status)
end

--- As support.run, on the current device, with an empty kernel cache, whose folder is GPULUA_CACHE_DIR. Also gives the number of kernels
--- that are in it afterwards.
function support.run_cold(script, path)
  local folder = os.tmpname()
  os.execute(("rm %s && mkdir %s"):format(folder, folder))
  local output, status = support.run(script, ("GPULUA_CACHE_DIR=%s GPULUA_DEVICE=%s"):format(folder, require "gpu".device().name), path)
  local kernels = support.cached_kernels(folder)
  os.execute("rm -r " .. folder)
  return output, status, kernels
end

--- The number of kernels in a cache's folder.
function support.cached_kernels(folder)
  local files = io.popen(("find %s -type f -path '*/??/*' | wc -l"):format(folder))
  local count = tonumber(files:read "*a")
  files:close()
  return count
end

--- As support.run, on the current device, on a machine where none of the libraries `names`, words, is installed.
function support.run_without(names, script)
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  for name in names:gmatch "%S+" do support.write(folder .. "/" .. name, "no library") end
  local output, status = support.run(script, ("GPULUA_DEVICE=%s LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH"):format(
    require "gpu".device().name, folder))
  os.execute("rm -r " .. folder)
  return output, status
end

--- A function like busted's `it`, for tests that need SuperLU: where it is missing they are pending, and say why.
function support.it_with_superlu(it, pending)
  local gpu = require "gpu"
  local found, why = pcall(gpu.sparse.linalg.spsolve, gpu.sparse.csr {{2}}, gpu.array {4})
  local missing = not found and why:match "factors of sparse matrices need SuperLU.*"
  return function(name, fn)
    it(name, missing and function() pending(missing) end or fn)
  end
end

--- A file's bytes.
function support.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

function support.write(path, bytes)
  os.remove(path) -- some file systems wait for the disk when a file is written over
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

--- A .npy file of version 1.0 with that header, and `size` bytes of elements.
function support.npy(header, size)
  return "\x93NUMPY\1\0" .. string.char(#header % 256, math.floor(#header / 256)) .. header .. ("\0"):rep(size or 0)
end

--- sqrt(n) times the greatest distance between the distribution function `cdf` and that of the n numbers in x: Kolmogorov and
--- Smirnov's test. 1.95 is passed once in a thousand.
function support.kolmogorov_smirnov(x, cdf)
  local values = x:astype("float64"):table()
  table.sort(values)
  local n, worst = #values, 0
  for i, v in ipairs(values) do
    local p = cdf(v)
    worst = math.max(worst, math.abs(p - i / n), math.abs(p - (i - 1) / n))
  end
  return math.sqrt(n) * worst
end

--- Called in a `describe`, with busted's two functions there: gives a function from a suffix to the path of a new file.
--- The files of a test go when it ends.
function support.temporary_files(before_each, after_each)
  local base, paths
  before_each(function()
    base, paths = os.tmpname(), {}
    paths[1] = base
  end)
  after_each(function()
    for _, path in ipairs(paths) do os.remove(path) end
  end)
  return function(suffix)
    paths[#paths + 1] = base .. suffix
    return base .. suffix
  end
end

return support
