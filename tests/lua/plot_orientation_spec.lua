-- gpu.plot: which end of an image is up, and axes that run backwards, by the pixels of pictures and the dots of characters.
local gpu = require "gpu"
local support = require "support"

local plot = gpu.plot
local has_gnuplot = os.execute "command -v gnuplot >/dev/null" == 0
local function drawn(name, fn) it(name, has_gnuplot and fn or function() pending "gnuplot is not installed" end) end

local yellow, purple = { 253, 231, 37 }, { 68, 1, 84 } -- the ends of viridis

--- Where a colour is in the chart's picture: the means of its rows and columns, as parts of the size. The bar of colours, on the right,
--- is left out.
local function place_of(color, chart)
  local path = os.tmpname() .. ".png"
  chart:save(path, { size = { 400, 300 } })
  local picture = gpu.image.load(path):astype("float32")
  os.remove(path)
  local height, width = picture.shape[1], picture.shape[2]
  picture = picture({ 1, height }, { 1, math.floor(0.75 * width) }, { 1, 3 })
  local is_it = (picture - gpu.array(color)):abs():max(3):lt(6)
  local rows, columns = is_it:nonzero()
  assert(rows.size > 500, "no area of the colour")
  return rows:astype("float64"):mean():item() / height, columns:astype("float64"):mean():item() / width
end

local m = gpu.array { { 0, 0 }, { 1, 1 } }
local extent = { 10, 20, 0, 5 }

describe("an image", function()
  local charts = {
    image = function(options) return plot.image(m, options) end,
    ["image of an extent"] = function(options)
      options.extent = extent
      return plot.image(m, options)
    end,
    heatmap = function(options)
      options.format = false
      return plot.heatmap(m, options)
    end,
  }
  for name, chart in pairs(charts) do
    drawn("has its first row where origin says: " .. name, function()
      for origin, is_up in pairs { upper = true, lower = false } do
        local first, last = place_of(purple, chart { origin = origin }), place_of(yellow, chart { origin = origin })
        assert.are.equal(is_up, first < last, origin)
      end
      assert(place_of(purple, chart {}) < place_of(yellow, chart {}))
    end)
  end

  drawn("of filled contours too", function()
    local rows = gpu.linspace(0, 1, 9):reshape(9, 1):broadcast_to(9, 9)
    for _, given in ipairs { { origin = "upper" }, { origin = "upper", extent = extent } } do
      local first = place_of({ 70, 50, 126 }, plot.contourf(rows, { 0, 0.25, 0.5, 0.75, 1 }, given))
      given.origin = "lower"
      local turned = place_of({ 70, 50, 126 }, plot.contourf(rows, { 0, 0.25, 0.5, 0.75, 1 }, given))
      assert(first < 0.4 and turned > 0.55, ("%g %g"):format(first, turned))
    end
  end)

  it("takes no other origin, and none beside x and y", function()
    support.fails('[plot.image] expected origin, one of lower, upper, got "left"', plot.image, m, { origin = "left" })
    support.fails("[plot.contourf] expected x and y or an origin, got both", plot.contourf, { 1, 2 }, { 1, 2 }, m, { origin = "lower" })
  end)
end)

describe("an axis with its ends exchanged", function()
  drawn("runs backwards", function()
    local function chart(options) return plot.image(m, options) end
    assert(place_of(purple, chart { ylim = { 0.5, 2.5 } }) > place_of(yellow, chart { ylim = { 0.5, 2.5 } }))
    assert(place_of(purple, chart { ylim = { 2.5, 0.5 } }) < place_of(yellow, chart { ylim = { 2.5, 0.5 } }))
    local function across(options)
      options.aspect = "auto"
      return select(2, place_of(purple, plot.image(m.T, options)))
    end
    assert(across { xlim = { 0.5, 2.5 } } < across { xlim = { 2.5, 0.5 } })
  end)

  it("is of equal ends an error", function()
    support.fails("[plot.line] expected ylim = {first, last}, two numbers that differ, got {1, 1}", plot.line, { 1, 2 }, { ylim = { 1, 1 } })
  end)

  drawn("takes bars, boxes, points and lines, also on a logarithmic axis", function()
    local path = os.tmpname() .. ".svg"
    for _, log in ipairs { false, "y" } do
      plot.bars({ 1, 10, 100 }, { ylim = { 200, 0.5 }, log = log or nil }):line({ 1, 10, 100 }):points({ 1, 10, 100 }):save(path)
      plot.boxplot({ { 1, 2, 3, 50 } }, { ylim = { 60, 0.5 }, log = log or nil }):save(path)
    end
    os.remove(path)
  end)
end)
