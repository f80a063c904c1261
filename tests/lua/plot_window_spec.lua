-- Charts in windows without a display: what OpenGL draws stands where gnuplot draws it in a picture of the same chart.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local width, height = 400, 300
local has_window, first = pcall(gpu.window, {width = width, height = height, headless = true})
local found = io.popen "command -v gnuplot"
local has_gnuplot = found:read "*l" ~= nil
found:close()

--- Where the pixels of a picture are red, and the mean of their places: {x, y} from the top left.
local function red_places(picture)
  local places, x_sum, y_sum = {}, 0, 0
  for y, row in ipairs(picture:table()) do
    for x, pixel in ipairs(row) do
      if pixel[1] > 100 and pixel[2] < 90 and pixel[3] < 90 then
        places[#places + 1] = {x, y}
        x_sum, y_sum = x_sum + x, y_sum + y
      end
    end
  end
  return places, {x_sum / #places, y_sum / #places}
end

local function in_window(p)
  local window = first
  p:show {window = window}
  return window:read()
end

local function by_gnuplot(p)
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".png"
  p:save(path, {size = {width, height}})
  local picture = gpu.image.load(path)
  os.remove(path)
  return picture
end

local function check_near(a, b, most)
  assert.is_true(math.abs(a[1] - b[1]) <= most and math.abs(a[2] - b[2]) <= most,
    ("%g, %g is not within %g of %g, %g"):format(a[1], a[2], most, b[1], b[2]))
end

--- The means of what is red are the same, and no pixel of one is more than `most` from each of the other.
local function check_same_places(p, most)
  local ours, our_mean = red_places(in_window(p))
  local theirs, their_mean = red_places(by_gnuplot(p))
  assert.is_true(#ours > 0 and #theirs > 0)
  check_near(our_mean, their_mean, most)
  for _, pair in ipairs {{ours, theirs}, {theirs, ours}} do
    for _, a in ipairs(pair[1]) do
      local nearest = math.huge
      for _, b in ipairs(pair[2]) do nearest = math.min(nearest, math.max(math.abs(a[1] - b[1]), math.abs(a[2] - b[2]))) end
      assert.is_true(nearest <= most, ("%d, %d is %g from the others"):format(a[1], a[2], nearest))
    end
  end
end

describe("charts in windows", function()
  if not has_window then return it("are there", function() pending(tostring(first)) end) end
  if not has_gnuplot then return it("are drawn", function() pending "gnuplot is not installed" end) end

  local dot = {color = "red", theme = "dark"}
  local function with(options)
    for name, value in pairs(dot) do options[name] = value end
    return options
  end

  it("have points where gnuplot has them", function()
    check_same_places(gpu.plot.points({1}, {3}, with {size = 9, xlim = {0, 4}, ylim = {0, 4}}), 1)
    check_same_places(gpu.plot.points({1, 2, 3}, {5, 4, 7}, with {size = 7, xlim = {4, 0}, ylim = {0, 8}, xlabel = "x", title = "backwards"}), 1)
  end)

  it("have lines where gnuplot has them, interrupted by NaN", function()
    check_same_places(gpu.plot.line({0, 1, 2, 3, 4, 5}, {0, 3, 1, 0 / 0, 2, 2.5}, with {}), 2)
  end)

  it("have logarithmic axes, dates and a second axis", function()
    check_same_places(gpu.plot.line({1, 10, 100, 5000}, {1e-3, 1, 10, 100}, with {log = "xy"}), 2)
    check_same_places(gpu.plot.line({"2024-01-01", "2024-02-01", "2024-04-01"}, {1, 3, 2}, with {}), 2)
    check_same_places(gpu.plot.bars({1, 2, 3}, {1, 2, 3}, {color = "gray"}):points({2}, {500}, with {axis = "right", size = 9, y2lim = {0, 1000}}), 2)
  end)

  it("draw all points of long lines and of clouds, as they were when the layer was made", function()
    local n = 20000
    local x, y = gpu.linspace(0, 1, n), gpu.linspace(0, 1, n)
    local p = gpu.plot.line(x, y, with {xlim = {0.50000, 0.5001}, ylim = {0.4999, 0.5002}})
    x:fill_(-5)
    y:fill_(-5)
    -- Some three points are in view, which a reduced line has not.
    local places = red_places(in_window(p))
    local columns = {}
    for _, place in ipairs(places) do columns[place[1]] = true end
    local count = 0
    for _ in pairs(columns) do count = count + 1 end
    assert.is_true(count > 250, count)
    gpu.random.seed(1)
    local cloud = gpu.plot.points(gpu.rand(60000), gpu.rand(60000), with {xlim = {0, 1}, ylim = {0, 1}, opacity = 1})
    assert.is_true(#red_places(in_window(cloud)) > 20000)
  end)

  it("draw nothing beside the axes", function()
    local p = gpu.plot.line({0, 1}, {-100, 100}, with {xlim = {0.4, 0.6}, ylim = {-1, 1}, width = 30})
    local ours, theirs = red_places(in_window(p)), red_places(by_gnuplot(p))
    local function edges(places)
      local left, right, top, bottom = math.huge, 0, math.huge, 0
      for _, place in ipairs(places) do
        left, right, top, bottom = math.min(left, place[1]), math.max(right, place[1]), math.min(top, place[2]), math.max(bottom, place[2])
      end
      return {left, top}, {right, bottom}
    end
    local our_first, our_last = edges(ours)
    local their_first, their_last = edges(theirs)
    assert.is_true(our_first[2] >= their_first[2] - 1 and our_last[2] <= their_last[2] + 1)
  end)

  it("show the other kinds, and grids, as gnuplot draws them", function()
    for _, p in ipairs {gpu.plot.histogram(gpu.rand(100), 5), gpu.plot.surface(gpu.rand(5, 5)),
      gpu.plot.grid {gpu.plot.line {1, 2}, gpu.plot.points {2, 1}}} do
      local ours, theirs = in_window(p), by_gnuplot(p)
      support.same(theirs(":", ":", {1, 3}), ours(":", ":", {1, 3}))
    end
  end)

  it("fit the window's size", function()
    local window = gpu.window {width = 200, height = 100, headless = true}
    local p = gpu.plot.points({1}, {1}, with {size = 5, xlim = {0, 2}, ylim = {0, 2}})
    p:show {window = window}
    local _, small = red_places(window:read())
    window:resize(600, 400)
    p:show {window = window}
    local _, large = red_places(window:read())
    assert.is_true(large[1] > 2 * small[1] and large[2] > 3 * small[2])
    window:resize(20, 20)
    p:show {window = window}
    assert.equal(0, #red_places(window:read()))
  end)

  it("say what they expect", function()
    local p = gpu.plot.line {1, 2}
    fails("[plot.show] expected window = true, or a window of gpu.window, got 3", p.show, p, {window = 3})
    fails("[plot.show] expected window = true, or a window of gpu.window, got false", p.show, p, {window = false})
    fails("[plot.show] expected no width and height: the window has its own, got 300", p.show, p, {window = first, width = 300})
    fails("[plot.show] expected no sixel beside window, got true", p.show, p, {window = first, sixel = true})
    fails("[plot.show] expected a chart, or window = true for a function that gives charts, got a function", gpu.plot.show, print)
    fails("[plot.show] expected a chart, or a function that gives charts, got", gpu.plot.show, 3, {window = true})
    fails("[plot.show] expected a function that gives charts, got 3", gpu.plot.show, function() return 3 end, {window = true})
    local window = gpu.window {width = 100, height = 100, headless = true}
    window:close()
    fails("expected a window that is open, got one after window:close()", p.show, p, {window = window})
  end)
end)
