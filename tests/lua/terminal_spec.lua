-- gpu.print_options, gpu.progress, gpu.timer and gpu.time.
local gpu = require "gpu"
local fails = require("support").fails

local function shown(x) return (tostring(x):gsub("^[^\n]*\n", "")) end

describe("gpu.print_options", function()
  local before = gpu.print_options()
  local function with(options, fn)
    gpu.print_options(options)
    local ok, message = pcall(fn)
    gpu.print_options(before)
    assert(ok, message)
  end

  it("gives what holds", function()
    assert.are.same({ precision = 6, edge = 3, threshold = 1000, width = "terminal" }, before)
    with({ precision = 3, width = 40 }, function()
      assert.are.same({ precision = 3, edge = 3, threshold = 1000, width = 40 }, gpu.print_options())
      assert.are.equal("terminal", gpu.print_options({ width = "terminal" }).width)
    end)
  end)

  it("sets the digits", function()
    local x = gpu.array({ 1 / 3, 1234.5678 }, "float64")
    with({ precision = 3 }, function() assert.are.equal("[   0.333 1235    ]", shown(x)) end)
    with({ precision = 17 }, function() assert(shown(x):find("0.33333333333333331", 1, true), shown(x)) end)
    with({ precision = 2 }, function()
      assert.are.equal("[0.33-0.25i]", shown(gpu.array { gpu.complex(1 / 3, -0.25) }))
    end)
    assert.are.equal("[   0.333333 1234.57    ]", shown(x))
  end)

  it("sets what of a long array is shown", function()
    local x = gpu.arange(10)
    with({ threshold = 9, edge = 1 }, function() assert.are.equal("[0 ... 9]", shown(x)) end)
    with({ threshold = 0, edge = 2 }, function() assert.are.equal("[0 1 ... 8 9]", shown(x)) end)
    with({ threshold = 5000 }, function() assert.is_nil(shown(gpu.arange(5000)):find("...", 1, true)) end)
    assert.are.equal("[0 1 2 3 4 5 6 7 8 9]", shown(x))
  end)

  it("sets the width of lines", function()
    with({ width = 20 }, function()
      for line in shown(gpu.arange(100)):gmatch "[^\n]+" do assert(#line <= 20, line) end
    end)
  end)

  it("refuses other values, and keeps what holds then", function()
    fails('[print_options] expected precision = an integer from 1 to 17, got 0', gpu.print_options, { precision = 0 })
    fails('[print_options] expected edge = an integer from 1 to 1000000, got 1.5', gpu.print_options, { edge = 1.5 })
    fails('[print_options] expected width = an integer from 20 to 1000000, or "terminal", got 5', gpu.print_options, { width = 5 })
    fails('got "edgeitems"; did you mean "edge"?', gpu.print_options, { edgeitems = 2 })
    assert.are.same(before, gpu.print_options())
  end)
end)

describe("gpu.progress", function()
  it("counts as a loop", function()
    for n = 0, 3 do
      local seen = {}
      for i in gpu.progress(n) do seen[#seen + 1] = i end
      assert.are.equal(n, #seen)
      for i = 1, n do assert.are.equal(i, seen[i]) end
    end
    local count = 0
    for _ in gpu.progress(1e6, "paths") do count = count + 1 end
    assert.are.equal(1e6, count)
  end)

  it("says how much is done, the rate and the rest", function()
    local progress_line = debug.getregistry()["gpulua.library"].core.import("terminal").progress_line
    assert.are.equal("paths: 25%, 250 of 1000, 100/s, 7.5 s left", progress_line("paths", 250, 1000, 2500))
    assert.are.equal("1%, 1 of 100, 0.01/s, 2 h 45 min left", progress_line(nil, 1, 100, 1e5))
    assert.are.equal("paths: 1000 in 2 min 05 s, 8/s", progress_line("paths", 1000, 1000, 125e3))
  end)

  it("refuses other arguments", function()
    fails("[progress] expected a number of steps, an integer of 0 or more, got -1", gpu.progress, -1)
    fails("[progress] expected a number of steps, an integer of 0 or more, got a table", gpu.progress, {})
    fails("[progress] expected a label, a string, got 3", gpu.progress, 3, 3)
  end)
end)

describe("gpu.timer", function()
  it("gives milliseconds since it was made, and starts anew for each", function()
    local first = gpu.timer()
    local before = gpu.clock()
    while gpu.clock() - before < 20 do end
    local second = gpu.timer()
    local a, b = first(), second()
    assert(a >= 20 and a < 20000, a)
    assert(b >= 0 and b < a, b)
    assert(first() >= a)
  end)
end)

describe("gpu.time", function()
  it("is the time of the day", function()
    assert(math.abs(gpu.time() - os.time()) < 2)
    local a, b = gpu.time(), gpu.time()
    assert(b >= a)
  end)
end)
