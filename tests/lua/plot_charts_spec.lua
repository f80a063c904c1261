-- gpu.plot: axes and their ticks, colours, dates, and the kinds of layers that plot_spec.lua leaves out.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local plot = gpu.plot
plot.line { 1, 2 } -- loads the library's files
local import = debug.getregistry()["gpulua.library"].core.import
local axes_of, dates, settings = import "plot_axes", import "plot_dates", import "plot_options"
local has_gnuplot = os.execute "command -v gnuplot >/dev/null" == 0

local function layer_of(p, i) return rawget(p, "layers")[i or 1] end

local function count(text, pattern) return select(2, text:gsub(pattern, "")) end

--- The text of the file that a chart is saved in.
local function saved(p, ending, options)
  local path = os.tmpname() .. ending
  p:save(path, options or {})
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  os.remove(path)
  return text
end

--- it(...) for what needs gnuplot.
local function drawn(name, fn) it(name, has_gnuplot and fn or function() pending "gnuplot is not installed" end) end

local function near(expected, value, message)
  assert(math.abs(expected - value) <= 1e-9 * math.max(1, math.abs(expected)), ("%s: %.15g, %.15g"):format(message or "", expected, value))
end

describe("axes", function()
  it("have margins beyond the data, none at the foot of bars and the edge of pictures", function()
    local axes = axes_of.of(plot.line({ 0, 100 }, { 10, 20 }), 0.04)
    near(-4, axes.x.low)
    near(104, axes.x.high)
    near(9.6, axes.y.low)
    near(20.4, axes.y.high)
    axes = axes_of.of(plot.line({ 1, 100 }, { 10, 20 }, { log = "x" }), 0.05)
    near(10 ^ -0.1, axes.x.low)
    near(10 ^ 2.1, axes.x.high)
    axes = axes_of.of(plot.bars({ 5, 10 }), 0.1)
    assert.are.equal(0, axes.y.low)
    near(11, axes.y.high)
    axes = axes_of.of(plot.image(gpu.ones(4, 6)), 0.1)
    assert.are.same({ 0.5, 6.5, 4.5, 0.5 }, { axes.x.low, axes.x.high, axes.y.low, axes.y.high })
    axes = axes_of.of(plot.line({ 1, 2 }, { xlim = { 3, 8 } }):hline(7), 0)
    assert.are.same({ 3, 8, 1, 7 }, { axes.x.low, axes.x.high, axes.y.low, axes.y.high })
  end)

  it("have ticks at round numbers, whose texts are the numbers", function()
    local n = 0
    for _, span in ipairs { 3e-7, 0.02, 0.7, 1, 7, 12, 99, 350, 12345, 8e6, 3e9 } do
      for _, low in ipairs { 0, -span / 3, span * 2.2 } do
        for _, most in ipairs { 3, 5, 9 } do
          local ticks = axes_of.ticks({ low = low, high = low + span }, most)
          assert(#ticks >= 2 and #ticks <= 4 / 3 * most + 1, ("%g %g: %d"):format(low, span, #ticks))
          local step = ticks[2][1] - ticks[1][1]
          local mantissa = step / 10 ^ math.floor(math.log10(step) + 1e-9)
          assert(math.abs(mantissa - 1) < 1e-6 or math.abs(mantissa - 2) < 1e-6 or math.abs(mantissa - 5) < 1e-6, mantissa)
          for _, tick in ipairs(ticks) do
            assert(tick[1] >= low - 1e-9 * span and tick[1] <= low + span * (1 + 1e-9))
            if tonumber(tick[2]) then assert(math.abs(tonumber(tick[2]) - tick[1]) < 1e-6 * span, tick[2]) end
            n = n + 1
          end
        end
      end
    end
    assert(n > 300)
    local function texts(low, high, most, is_log)
      local list = {}
      for _, tick in ipairs(axes_of.ticks({ low = low, high = high, log = is_log }, most)) do
        if tick[2] ~= "" then list[#list + 1] = tick[2] end
      end
      return table.concat(list, " ")
    end
    assert.are.equal("0 100,000 200,000 300,000", texts(0, 3e5, 3))
    assert.are.equal("-0.5 0 0.5", texts(-0.6, 0.6, 2))
    assert.are.equal("0 5000 10,000", texts(0, 10000, 2))
    assert.are.equal("0 2×10⁸ 4×10⁸", texts(0, 4e8, 2))
    assert.are.equal("0 0.5×10⁸ 1.0×10⁸ 1.5×10⁸", texts(0, 1.6e8, 3))
    assert.are.equal("0 10,000,000 20,000,000", texts(0, 2e7, 2))
    assert.are.equal("0 2×10⁻⁵ 4×10⁻⁵", texts(0, 4e-5, 2))
    assert.are.equal("0.1 1 10 100", texts(0.1, 100, 5, true))
    assert.are.equal("10⁻⁶ 10⁻³ 10⁰ 10³ 10⁶", texts(1e-6, 1e6, 4, true))
  end)

  it("of dates have ticks where years, months, days and hours begin", function()
    for _, case in ipairs {
      { 20 * 365.25 * 86400, "^%d%d%d%d$", "!%m-%d %H:%M:%S", "01%-01 00:00:00", "!%Y" },
      { 500 * 86400, "^%d%d%d%d%-%d%d$", "!%d %H:%M:%S", "01 00:00:00", "!%Y-%m" },
      { 20 * 86400, "^%d%d%d%d%-%d%d%-%d%d$", "!%H:%M:%S", "00:00:00", "!%Y-%m-%d" },
      { 20 * 3600, "^[%d-:]+$", "!%M:%S", "00:00" },
      { 300, "^[%d-:]+$", "!%S", "[03]0" },
    } do
      for _, start in ipairs { 0, 951782399, 1709200000, 1719999999, 4107542400 } do
        local ticks = axes_of.ticks({ low = start, high = start + case[1], dates = true }, 6)
        assert(#ticks >= 3 and #ticks <= 9, #ticks)
        for _, tick in ipairs(ticks) do
          assert(tick[2]:find(case[2]), tick[2])
          assert(os.date(case[3], tick[1]):find("^" .. case[4] .. "$"), os.date("!%c", tick[1]))
          if case[5] then assert.are.equal(os.date(case[5], tick[1]), tick[2]) end
        end
      end
    end
    for seconds = -1e9, 5e9, 12345678 do
      assert.are.equal(os.date("!%Y-%m-%d", seconds), dates.text(seconds, 1e7))
      assert.are.equal(seconds, dates.seconds_of(os.date("!%Y-%m-%d %H:%M:%S", seconds)))
      assert.are.equal(seconds - seconds % 86400, dates.seconds_of(os.date("!%Y-%m-%d", seconds)))
    end
  end)

  it("are of dates for a column of dates, or by the option", function()
    local column = gpu.dates { "1970-01-01", "1970-01-02", "1970-01-03" }
    local p = plot.line(column, { 1, 2, 3 })
    assert.are.same({ 0, 86400, 172800 }, layer_of(p).x)
    assert.is_true(axes_of.of(p, 0).x.dates)
    local vega = saved(p, ".vl.json")
    assert(vega:find('"type":"temporal"', 1, true) and vega:find('{"x":86400000,"y":2}', 1, true), vega)
    assert.is_true(axes_of.of(plot.bars(column, { 1, 2, 3 }), 0).x.dates)
    assert.are.same({ "2024-03-14" }, rawget(plot.bars({ "2024-03-14" }, { 1 }), "options").xnames)
    assert.is_true(axes_of.of(plot.points({ 0, 1e9 }, { 1, 2 }, { dates = true }), 0).x.dates)
    p = plot.line({ "2024-02-28", "2024-03-01 12:00" }, { 1, 2 }, { xlim = { "2024-02-01", "2024-04-01" } }):vline "2024-03-10"
      :annotate("text", "2024-02-29", 1, { at = { "2024-03-05T06:30:01.5Z", 2 } }):hline(1)
    assert.are.same({ 1709078400, 1709294400 }, layer_of(p).x)
    assert.are.same({ 1706745600, 1711929600 }, { axes_of.of(p, 0).x.low, axes_of.of(p, 0).x.high })
    assert.are.equal(1710028800, layer_of(p, 2).from)
    assert.are.same({ 1709164800, 1709620201.5 }, { layer_of(p, 3).x, layer_of(p, 3).at[1] })
    fails('[plot.line] expected dates such as "2024-03-14" or "2024-03-14 12:30:15", got "2023-02-29"', plot.line, { "2023-02-28", "2023-02-29" }, { 1, 2 })
    fails("[plot.line] expected numbers in xlim, got dates; dates = true makes an axis of them", plot.line, { 1, 2 },
      { xlim = { "2024-02-01", "2024-04-01" } })
    fails('[plot.vline] expected x, a date such as "2024-03-14", or its seconds, got "soon"', function() p:vline "soon" end)
    local x = { 1, 2, 3 }
    for i, fn in ipairs { function() plot.line(x, column) end, function() plot.line(column) end, function() plot.bars(x, column) end,
      function() plot.histogram(column) end, function() plot.band(x, column, x) end, function() plot.errorbars(x, x, column) end } do
      fails("got a column of dates, which x takes; d:number(unit) gives numbers", fn, i)
    end
    local of_dates, of_numbers = plot.line(column, x), plot.line(x, x)
    fails("[plot.line] expected dates as x, as a layer before has, got numbers", of_dates.line, of_dates, x, x)
    fails("[plot.line] expected dates as x, as a layer before has, got numbers", of_dates.line, of_dates, x)
    fails("[plot.points] expected numbers as x, as a layer before has, got dates", of_numbers.points, of_numbers, column, x)
    fails("[plot.bars] expected dates as x, as a layer before has, got numbers", of_dates.bars, of_dates, { "a", "b", "c" }, x)
    of_dates:points(column, x):hline(2):line({ 0, 86400 }, { 1, 2 }, { dates = true }):points(column, x)
    plot.line({ 0, 86400 }, { 1, 2 }, { dates = true }):line({ 0, 86400 }, { 2, 1 }):line(column, x)
    fails("[plot.line] expected dates or a logarithmic axis x, got both", plot.line, column, { 1, 2, 3 }, { log = "x" })
  end)
end)

describe("colour maps", function()
  local function lightness(parts)
    local total = 0
    for i, weight in ipairs { 0.2126, 0.7152, 0.0722 } do
      local c = parts[i] / 255
      total = total + weight * (c > 0.04045 and ((c + 0.055) / 1.055) ^ 2.4 or c / 12.92)
    end
    return total > 0.008856 and 116 * total ^ (1 / 3) - 16 or 903.3 * total
  end

  it("do not lie: lightness rises, falls from the middle, or returns", function()
    local names = {}
    for name in pairs(settings.colormaps) do names[#names + 1] = name end
    assert.are.equal(12, #names)
    for _, name in ipairs { "viridis", "plasma", "inferno", "magma", "cividis", "gray", "hot", "cubehelix" } do
      local before = -1
      for i = 0, 20 do
        local now = lightness(settings.color_at(name, i / 20))
        assert(now > before, ("%s at %d of 20: %g, %g"):format(name, i, before, now))
        before = now
      end
    end
    for _, name in ipairs { "coolwarm", "purplegreen" } do
      for i = 0, 9 do
        for _, side in ipairs { -1, 1 } do
          assert(lightness(settings.color_at(name, 0.5 + side * i / 20)) > lightness(settings.color_at(name, 0.5 + side * (i + 1) / 20)))
        end
      end
    end
    for _, name in ipairs { "twilight", "phase" } do assert.are.same(settings.color_at(name, 0), settings.color_at(name, 1)) end
    for i = 0, 20 do assert(math.abs(lightness(settings.color_at("phase", i / 20)) - 64) < 4.5) end
    -- As Matplotlib has them.
    for name, expected in pairs { viridis = { 33, 145, 140 }, plasma = { 204, 71, 120 }, magma = { 183, 55, 121 }, coolwarm = { 221, 221, 221 } } do
      for k, part in ipairs(settings.color_at(name, 0.5)) do assert(math.abs(part - expected[k]) <= 2, name) end
    end
  end)

  it("are those of pictures too", function()
    local path = os.tmpname() .. ".png"
    for _, name in ipairs { "cividis", "coolwarm", "phase", "cubehelix" } do
      gpu.image.save(path, gpu.linspace(0, 1, 9):reshape(1, 9), { colormap = name })
      for j, pixel in ipairs(gpu.image.load(path):table()[1]) do
        local level = math.floor((j - 1) / 8 * 255 + 0.5) / 255
        for k, part in ipairs(settings.color_at(name, level)) do assert(math.abs(part - pixel[k]) < 1, name) end
      end
    end
    os.remove(path)
  end)
end)

describe("layers", function()
  it("of boxes have quartiles, whiskers and what is beyond", function()
    local x = gpu.concat { gpu.randn(501, "float64"), gpu.array({ 50, -40, 0 / 0 }, "float64") }
    local boxes = layer_of(plot.boxplot({ "a", "b" }, { x, { 1, 2, 3, 4, 100 } }))
    local sorted = {}
    for _, value in ipairs(x:table()) do sorted[#sorted + 1] = value == value and value or nil end
    table.sort(sorted)
    local function quantile(q)
      local at = q * (#sorted - 1) + 1
      local i = math.floor(at)
      return sorted[i] + (at - i) * ((sorted[i + 1] or 0) - sorted[i])
    end
    near(quantile(0.25), boxes.q1[1])
    near(quantile(0.5), boxes.median[1])
    near(quantile(0.75), boxes.q3[1])
    local reach = 1.5 * (quantile(0.75) - quantile(0.25))
    local low, high, beyond = math.huge, -math.huge, 0
    for _, value in ipairs(sorted) do
      if value < quantile(0.25) - reach or value > quantile(0.75) + reach then
        beyond = beyond + 1
      else
        low, high = math.min(low, value), math.max(high, value)
      end
    end
    near(low, boxes.low[1])
    near(high, boxes.high[1])
    assert.are.equal(beyond + 1, #boxes.outlier_y) -- 100 in the other
    assert.are.same({ 2, 3, 4, 1, 4 }, { boxes.q1[2], boxes.median[2], boxes.q3[2], boxes.low[2], boxes.high[2] })
    -- By the texts of a column, and of the columns of a matrix.
    local t = gpu.table { city = { "Oslo", "Bern", "Oslo", "Oslo" }, price = { 1, 9, 2, 3 } }
    local p = plot.boxplot(t.city, t.price)
    assert.are.same({ "Bern", "Oslo" }, rawget(p, "options").xnames)
    assert.are.same({ 9, 2 }, layer_of(p).median)
    assert.are.same({ 2, 5 }, layer_of(plot.boxplot(gpu.array { { 1, 4 }, { 2, 5 }, { 3, 6 } })).median)
  end)

  it("of bars at the same places stand side by side", function()
    local p = plot.bars({ "a", "b" }, { 1, 2 }):bars({ "a", "b" }, { 3, 4 }):bars({ 1, 2 }, { 5, 6 }, { axis = "right" })
    for i, expected in ipairs { { 0.6, 1, 1.6, 2 }, { 1, 1.4, 2, 2.4 }, { 0.6, 1.4, 1.6, 2.4 } } do
      local bars = layer_of(p, i)
      for k, value in ipairs { bars.left[1], bars.right[1], bars.left[2], bars.right[2] } do near(expected[k], value) end
    end
  end)

  it("of histograms have bins that are even on the logarithmic axis", function()
    local x = gpu.array({ 1, 2, 5, 9, 11, 50, 99, 100, 0, -3 }, "float64")
    local bars = layer_of(plot.histogram(x, 2, { log = "x" }))
    near(1, bars.left[1])
    near(10, bars.left[2])
    near(100, bars.right[2])
    assert.are.same({ 4, 4 }, bars.y)
    fails("[plot.histogram] expected a value above 0 for the logarithmic axis x, got none", plot.histogram, { -1, 0 }, { log = "x" })
  end)

  it("of filled contours paint each point in the colour between its levels", function()
    local n = 40
    local xs, ys = gpu.linspace(-3, 3, n, "float64"), gpu.linspace(0, 5, n, "float64")
    local m = gpu.sin(2 * xs) * gpu.cos(3 * ys:reshape(n, 1)) + 0.2 * xs
    local rows = m:table()
    rows[20][20] = 0 / 0
    local layer = layer_of(plot.contourf(xs, ys, gpu.array(rows, "float64"), { -0.7, -0.2, 0.3, 0.9 }))
    assert.are.equal(6, #layer.bounds)
    local function inside(polygon, x, y)
      local odd, j = false, #polygon.x
      for i = 1, #polygon.x do
        local xi, yi, xj, yj = polygon.x[i], polygon.y[i], polygon.x[j], polygon.y[j]
        if (yi > y) ~= (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi then odd = not odd end
        j = i
      end
      return odd
    end
    local function band_at(x, y)
      local band
      for _, polygon in ipairs(layer.polygons) do band = inside(polygon, x, y) and polygon.band or band end
      return band
    end
    local dx, dy, checked = 6 / (n - 1), 5 / (n - 1), 0
    for i = 1, n - 1 do
      for j = 1, n - 1 do
        -- Close to an element, where all ways to interpolate agree about the band.
        local x, y, value = -3 + (j - 1 + 0.01) * dx, (i - 1 + 0.01) * dy, rows[i][j]
        local expected, is_near = 1, false
        for _, level in ipairs { -0.7, -0.2, 0.3, 0.9 } do
          if value >= level then expected = expected + 1 end
          is_near = is_near or math.abs(value - level) < 0.02
        end
        if value == value and not is_near and not (math.abs(i - 20) <= 1 and math.abs(j - 20) <= 1) then
          assert.are.equal(expected, band_at(x, y))
          checked = checked + 1
        end
      end
    end
    assert(checked > 1200, checked)
    assert.are.equal(0, band_at(-3 + 19 * dx, 19 * dy)) -- a gap at NaN
    -- The lines at the same levels run where the areas meet.
    for _, s in ipairs(layer_of(plot.contour(xs, ys, m, { 0.3 })).segments) do
      local x, y = (s[1] + s[3]) / 2, (s[2] + s[4]) / 2
      assert(math.abs(math.sin(2 * x) * math.cos(3 * y) + 0.2 * x - 0.3) < 0.03)
    end
  end)

  it("of matrices stand at x and y, or at the middles of the extent", function()
    local m = gpu.arange(6, "float64"):reshape(2, 3)
    local layer = layer_of(plot.surface({ 1, 2, 4 }, { 10, 30 }, m))
    assert.are.same({ 1, 2, 4 }, layer.xs)
    assert.are.same({ 10, 30 }, layer.ys)
    local X, Y = gpu.meshgrid(gpu.array { 1, 2, 4 }, gpu.array { 10, 30 })
    layer = layer_of(plot.contour(X, Y, m))
    assert.are.same({ 1, 2, 4 }, layer.xs)
    assert.are.same({ 10, 30 }, layer.ys)
    layer = layer_of(plot.contourf(m, 2, { extent = { 0, 3, 0, 4 } }))
    assert.are.same({ 0.5, 1.5, 2.5 }, layer.xs)
    assert.are.same({ 3, 1 }, layer.ys)
    layer = layer_of(plot.surface(gpu.linspace(0, 1, 250, "float64"), { 5, 7 }, gpu.ones(2, 250)))
    assert.are.equal(84, #layer.xs) -- means of blocks of three
    near(1 / 249, layer.xs[1])
  end)
end)

describe("files", function()
  drawn("have all that a chart with two axes and annotations shows", function()
    local p = plot.line({ 1, 2, 3 }, { 5, 9, 2 }, { label = "left", ylabel = "dollars", marker = "square" })
      :bars({ 1, 2, 3 }, { 1e6, 3e6, 2e6 }, { axis = "right", label = "right", y2label = "shares", opacity = 0.5 })
      :annotate("top; `date` 'x'", 2, 9, { at = { 2.5, 7 } }):hline(4, { label = "limit" }):vspan(1.2, 1.4, { label = "span", color = "#123456" })
    local svg = saved(p, ".svg")
    for _, text in ipairs { ">left<", ">right<", ">dollars<", ">shares<", ">limit<", ">span<", ">3,000,000<" } do
      assert(svg:find(text, 1, true), text)
    end
    assert(svg:find("top; `date`", 1, true))
    assert.are.equal(3 + 1, count(svg, "#gpPt4'")) -- squares, and one in the legend
    assert.are.equal(2, count(svg, "fill *= *'rgb%( 18,  52,  86%)'"))
    local vega = saved(p, ".vl.json")
    assert.are.equal(1, count(vega, '"orient":"right"'))
    assert(vega:find('"y":"independent"', 1, true) and vega:find([["text":"top; `date` 'x'"]], 1, true), vega)
  end)

  drawn("have the numbers in a heat map's cells, dark on light colours", function()
    local p = plot.heatmap(gpu.array { { 1, -0.25 }, { 0.5, 0 / 0 } }, { xnames = { "a", "b" }, ynames = { "c", "d" }, format = "%.2f" })
    local svg = saved(p, ".svg")
    for _, text in ipairs { ">1.00<", ">-0.25<", ">0.50<", ">a<", ">b<", ">c<", ">d<" } do assert(svg:find(text, 1, true), text) end
    assert(not svg:find "nan")
    local vega = saved(p, ".vl.json")
    assert(vega:find('{"text":"1.00","x":1,"y":1}]},"encoding":{"text":{"field":"text"}', 1, true), vega)
    assert(vega:find('"color":"#000000"', 1, true) and vega:find('"color":"#ffffff"', 1, true))
    assert(not saved(plot.heatmap(gpu.eye(2), { format = false }), ".vl.json"):find('"type":"text"', 1, true))
  end)

  drawn("have squares for the elements of an image, and the theme's colours", function()
    local vega = saved(plot.image(gpu.ones(10, 40)), ".vl.json", { size = { 400, 400 } })
    assert(vega:find('"height":100,', 1, true) and vega:find('"width":400}', 1, true))
    vega = saved(plot.image(gpu.ones(10, 40), { aspect = "auto" }), ".vl.json", { size = { 400, 400 } })
    assert(vega:find('"height":400,', 1, true))
    local path = os.tmpname() .. ".png"
    for theme, color in pairs { dark = { 24, 27, 32 }, light = { 255, 255, 255 } } do
      plot.line({ 1, 2 }, { theme = theme }):save(path)
      assert.are.same(color, gpu.image.load(path)[1][1]:table())
    end
    os.remove(path)
    fails("[plot.save] expected one theme for all charts of a picture, got light and dark", function()
      plot.grid({ plot.line { 1 }, plot.line({ 1 }, { theme = "dark" }) }):save(path)
    end)
  end)

  drawn("have the legend where nothing is drawn", function()
    --- Where the text of the legend begins, from 0 to 1.
    local function place(p)
      local svg = saved(p, ".svg", { size = { 800, 500 } })
      local x, y = svg:match 'translate%(([%d.]+),([%d.]+)%)[^<]*<text><tspan[^>]*>%s*the label<'
      if not x then x, y = svg:match 'translate%(([%d.]+),([%d.]+)%)"[^>]*>%s*<text>[^\n]*the label' end
      return tonumber(x) / 800, tonumber(y) / 500
    end
    local x, y = place(plot.line({ 0, 1 }, { 0, 1 }, { label = "the label" }))
    assert(x < 0.4 and y < 0.4, x .. " " .. y)
    x, y = place(plot.line({ 0, 1 }, { 1, 0 }, { label = "the label" }))
    assert(x > 0.6 and y < 0.4, x .. " " .. y)
    x, y = place(plot.line({ 0, 1 }, { 1, 0 }, { label = "the label", legend = "lower left" }))
    assert(x < 0.4 and y > 0.6, x .. " " .. y)
    x, y = place(plot.line({ 0, 1, 0, 1, 0 }, { 1, 0, 0, 1, 1 }, { label = "the label" }))
    assert(y > 0.9, y) -- below
    assert(saved(plot.hline(3, { label = "the label" }), ".svg"):find "the label")
    assert(not saved(plot.line({ 0, 1 }, { label = "the label", legend = "none" }), ".svg"):find "the label")
  end)

  drawn("have an element for each facet of a surface, and areas in a few colours", function()
    local m = gpu.arange(20, "float64"):reshape(4, 5)
    local svg = saved(plot.surface(m, { title = "up", zlabel = "z", view = { 40, 20 } }), ".svg")
    assert(count(svg, "<polygon") >= 3 * 4 and svg:find(">z<", 1, true))
    svg = saved(plot.contourf(m, { 5, 10, 15 }, { colormap = "gray" }), ".svg")
    for _, value in ipairs { 2.5, 7.5, 12.5, 17 } do
      local gray = math.floor(value / 19 * 255 + 0.5)
      assert(svg:find(("rgb%%(%3d, %3d, %3d%%)"):format(gray, gray, gray)), gray)
    end
  end)
end)

describe("gpu.plot", function()
  it("shows every kind of layer in characters", function()
    local characters = import("plot_terminal").characters
    local m = gpu.arange(20, "float64"):reshape(4, 5)
    for _, p in ipairs {
      plot.boxplot { { 1, 2, 3, 9 } }, plot.heatmap(m), plot.contourf(m), plot.surface(m), plot.line({ 1, 2 }):hline(1.5):vline(1.2):hspan(1, 2)
      :annotate("a word", 1.5, 1.5, { at = { 1, 2 } }), plot.line({ 1, 2 }):line({ 50, 70 }, { axis = "right" }),
    } do
      assert(#characters(p, 40, 8) > 100)
    end
    assert(characters(plot.line({ 1, 2 }):annotate("a word", 1, 1), 40, 8):find "a word")
    assert(characters(plot.line({ 0, 86400 }, { 1, 2 }, { dates = true }), 60, 8):find "1970%-01%-01 00:00:00 +1970%-01%-02 00:00:00")
    assert(characters(plot.line({ 0, 86400 * 3 }, { 1, 2 }, { dates = true }), 60, 8):find "1970%-01%-01 +1970%-01%-04")
  end)

  it("refuses what it cannot draw", function()
    local m = gpu.eye(3)
    for message, fn in pairs {
      ["[plot.line] expected marker, one of circle, cross, diamond, plus, square, star, triangle, got \"o\""] = function()
        plot.line({ 1, 2 }, { marker = "o" })
      end,
      ["[plot.line] expected axis, one of left, right, got \"top\""] = function() plot.line({ 1, 2 }, { axis = "top" }) end,
      ["[plot.line] expected legend, one of below, lower left, lower right, none, upper left, upper right, got \"best\""] = function()
        plot.line({ 1, 2 }, { legend = "best" })
      end,
      ["[plot.line] expected theme, one of dark, light, got \"ggplot\""] = function() plot.line({ 1, 2 }, { theme = "ggplot" }) end,
      ["[plot.line] expected opacity, a number above 0, at most 1, got 2"] = function() plot.line({ 1, 2 }, { opacity = 2 }) end,
      ['got "alpha"; did you mean "opacity"?'] = function() plot.line({ 1, 2 }, { alpha = 0.5 }) end,
      ["[plot.heatmap] expected format, of a number, such as \"%.2f\", or false, got \"%s\""] = function() plot.heatmap(m, { format = "%s" }) end,
      ["[plot.heatmap] expected 3 xnames, got 2"] = function() plot.heatmap(m, { xnames = { "a", "b" } }) end,
      ["[plot.heatmap] expected at most 60 rows and columns; gpu.plot.image shows more"] = function() plot.heatmap(gpu.ones(61, 2)) end,
      ["[plot.contour] expected x with a place for each of 3, got 2"] = function() plot.contour({ 1, 2 }, { 1, 2, 3 }, m) end,
      ["[plot.contour] expected an element that is finite, got none"] = function() plot.contour(m * (0 / 0)) end,
      ["[plot.contourf] expected y that ascends or descends"] = function() plot.contourf({ 1, 2, 3 }, { 1, 3, 2 }, m) end,
      ["[plot.surface] expected x, a vector, or a matrix as gpu.meshgrid gives"] = function() plot.surface(m, m, m) end,
      ["[plot.surface] expected x and y or an extent, got both"] = function()
        plot.surface({ 1, 2, 3 }, { 1, 2, 3 }, m, { extent = { 0, 1, 0, 1 } })
      end,
      ["[plot.line] expected a surface alone in its chart; gpu.plot.grid shows several charts"] = function() plot.surface(m):line { 1, 2 } end,
      ["[plot.surface] expected the options colormap, min, max, extent, label, edges, title, xlabel, ylabel, zlabel"] = function()
        plot.surface(m, { log = "x" })
      end,
      ["[plot.boxplot] expected 2 names"] = function() plot.boxplot({ "a" }, { { 1, 2 }, { 3 } }) end,
      ["[plot.boxplot] expected vectors in a list, or a matrix whose columns have boxes"] = function() plot.boxplot(3) end,
      ["[plot.annotate] expected a text, a string, got 3"] = function() plot.line({ 1 }):annotate(3, 1, 1) end,
      ["[plot.annotate] expected x, a number, got nil"] = function() plot.line({ 1 }):annotate "text" end,
      ["[plot.hline] expected y, a number"] = function() plot.line({ 1 }):hline(gpu.ones(2)) end,
      ["[plot.surface] expected view = {elevation, azimuth}, two numbers"] = function() plot.surface(m, { view = 30 }) end,
      ["use gpu.plot.hline(y)"] = function() return plot.axhline end,
    } do
      fails(message, fn)
    end
  end)
end)
