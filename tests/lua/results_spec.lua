-- Tables that functions give: a name that a result does not have is an error, as it is for an array.
local gpu = require "gpu"

local function identity() return gpu.sparse.eye(3), gpu.ones(3) end
local function info_of(name) return select(2, gpu.sparse.linalg[name](identity())) end
local x = gpu.array { 0, 1, 0, 3, 3, 3, 1, 2, 0 }
local function peaks(options) return select(2, gpu.signal.find_peaks(x, options or {})) end
local function sums() return gpu.ones(3):cumsum() end
local function plans()
  gpu.fft.fft(gpu.ones(360))
  return gpu.fft.plans()
end

local info = "the result has no field %q; its fields are converged, iterations, reason and residual"
local profiled = "[profile] the result has no field \"ms\"; its fields are bandwidth, bytes, compilation, launches, name and time"

-- What gives a result, a name that it does not have, and the whole message.
local unknown = {
  { function() return gpu.memory() end, "total", '[memory] the result has no field "total"; its fields are limit, peak, pooled and used' },
  { function() return gpu.memory() end, "usd",
    '[memory] the result has no field "usd"; its fields are limit, peak, pooled and used; did you mean "used"?' },
  { function() return gpu.devices() end, "name",
    '[devices] the result is a list and has no field "name"; its items have fields: result[1].name' },
  { function() return gpu.benchmark(sums, { repeats = 1 }) end, "mean",
    '[benchmark] the result has no field "mean"; its fields are device, host and repeats' },
  { function() return gpu.benchmark(sums, { repeats = 1 }).host end, "mean",
    '[benchmark] the result has no field "mean"; its fields are best, median and spread' },
  { function() return gpu.profile(sums) end, "time",
    '[profile] the result is a list and has no field "time"; its items have fields: result[1].time' },
  { function() return gpu.profile(sums)[1] end, "ms", profiled },
  { function() return gpu.random.state() end, "position", '[random.state] the result has no field "position"; its fields are offset and seed' },
  { function() return gpu.random.generator("philox"):state() end, "position",
    '[state] the result has no field "position"; its fields are offset and seed' },
  { function() return info_of "cg" end, "success", "[sparse.linalg.cg] " .. info:format "success" .. '; did you mean "converged"?' },
  { function() return info_of "gmres" end, "success", "[sparse.linalg.gmres] " .. info:format "success" .. '; did you mean "converged"?' },
  { function() return info_of "bicgstab" end, "itn", "[sparse.linalg.bicgstab] " .. info:format "itn" },
  { function() return info_of "minres" end, 1, "[sparse.linalg.minres] the result has no field 1; its fields are converged, "
    .. "iterations, reason and residual" },
  { function() return info_of "lsqr" end, "converges", "[sparse.linalg.lsqr] " .. info:format "converges" .. '; did you mean "converged"?' },
  { function() return peaks { prominence = 0.5 } end, "heights",
    '[signal.find_peaks] the result has no field "heights"; its fields are left_bases, prominences and right_bases; did you mean '
    .. '"peak_heights", which the option height gives?' },
  { function() return peaks { height = 1 } end, "prominences",
    '[signal.find_peaks] the result has no field "prominences" without the option prominence; its only field is peak_heights' },
  { function() return peaks() end, "x",
    '[signal.find_peaks] the result has no field "x"; it has none, and by other options left_bases, left_edges, left_ips, '
    .. 'left_thresholds, peak_heights, plateau_sizes, prominences, right_bases, right_edges, right_ips, right_thresholds, '
    .. 'width_heights, widths' },
  { plans, "n", '[fft.plans] the result is a list and has no field "n"; its items have fields: result[1].n' },
  { function() return plans()[1] end, "length",
    '[fft.plans] the result has no field "length"; its fields are bytes, device, dtype, kind and n' },
  { function() return gpu.print_options() end, "linewidth",
    '[print_options] the result has no field "linewidth"; its fields are edge, precision, threshold and width' },
  { function() return gpu.blas.precision() end, "float16",
    '[blas.precision] the result has no field "float16"; its fields are float32 and float64; did you mean "float32"?' },
  { function() return x.shape end, "rows",
    '[shape] a list of sizes has no field "rows": its numbers are x.shape[1] and so on, #x.shape their number' },
}

describe("results with named fields", function()
  it("raise an error for a name that they do not have, at the script's line", function()
    for i, row in ipairs(unknown) do
      local make, name, expected = unpack(row)
      local result = make()
      local line = debug.getinfo(1, "l").currentline + 1
      local ok, message = pcall(function() return result[name] end)
      assert(not ok, i)
      local place, text = message:match "^[^\n]-:(%d+): (.*)$"
      assert.are.equal(expected, text)
      assert.are.equal(line, tonumber(place), text)
    end
  end)

  it("have the fields of a device that is not open, which are nil", function()
    for _, device in ipairs(gpu.devices()) do
      assert(device.name and device.kind and (device.total_memory == nil or device.total_memory > 0))
      local ok, message = pcall(function() return device.total_mem end)
      assert(not ok and message:find('[devices] the result has no field "total_mem"; its fields are ', 1, true)
        and message:find('did you mean "total_memory"?', 1, true), message)
    end
  end)

  it("are tables as others are", function()
    local names = {}
    for name, value in pairs(gpu.memory()) do names[#names + 1] = type(value) .. " " .. name end
    table.sort(names)
    assert.are.same({ "number limit", "number peak", "number pooled", "number used" }, names)
    assert(next(info_of "cg") and #gpu.memory() == 0 and rawget(gpu.memory(), "total") == nil)
    for _, _ in ipairs(gpu.memory()) do error "no list" end
    local rows = gpu.profile(sums)
    assert(rows[#rows + 1] == nil and tostring(rows):find "kernel")
    local state = gpu.random.state()
    state.note = "mine"
    assert.are.equal("mine", state.note)
    local decoded = require("string.buffer").decode(require("string.buffer").encode(gpu.random.state()))
    assert(decoded.seed == gpu.random.state().seed and decoded.note == nil)
  end)

  it("go back where they come from", function()
    local first = gpu.random.state()
    local drawn = gpu.rand(4):table()
    gpu.random.set_state(first)
    assert.are.same(drawn, gpu.rand(4):table())
    local g = gpu.random.generator("philox", { seed = 3 })
    g:set_state(g:state())
    gpu.print_options(gpu.print_options())
    gpu.blas.precision(gpu.blas.precision())
    local ok, message = pcall(gpu.random.set_state, peaks())
    assert(not ok and message:find("got no seed", 1, true), message)
  end)
end)
