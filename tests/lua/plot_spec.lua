-- gpu.plot: what is left of the data, and what the renderers make of them. Pictures are compared by their structure: gnuplot's SVG has
-- an element for each mark.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"
local fails = support.fails

local plot = gpu.plot
local has_gnuplot = os.execute "command -v gnuplot >/dev/null" == 0

local function layer_of(p, i) return rawget(p, "layers")[i or 1] end

local function count(text, pattern) return select(2, text:gsub(pattern, "")) end

--- it(...) for what needs gnuplot.
local function drawn(name, fn) it(name, has_gnuplot and fn or function() pending "gnuplot is not installed" end) end

--- The first, least, greatest and last value of each column, by loops.
local function columns_by_loop(xs, ys, column_of)
  local columns = {}
  for i, x in ipairs(xs) do
    local c = column_of(i, x)
    local column = columns[c]
    if not column then
      column = { first = ys[i], low = math.huge, high = -math.huge, from = x, count = 0 }
      columns[c] = column
    end
    column.last, column.to, column.count = ys[i], x, column.count + 1
    if ys[i] == ys[i] then column.low, column.high = math.min(column.low, ys[i]), math.max(column.high, ys[i]) end
  end
  local points = {}
  for c = 0, 999 do
    local column = columns[c]
    if column then
      points[#points + 1] = { column.from, column.first }
      if column.count > 2 then
        local any = column.low <= column.high
        points[#points + 1] = { (column.from + column.to) / 2, any and column.low or 0 / 0 }
        points[#points + 1] = { (column.from + column.to) / 2, any and column.high or 0 / 0 }
      end
      if column.count > 1 then points[#points + 1] = { column.to, column.last } end
    end
  end
  return points
end

local function same_points(expected, layer)
  assert.are.equal(#expected, #layer.x)
  for i, point in ipairs(expected) do
    assert(math.abs(point[1] - layer.x[i]) < 1e-9, ("x %d: %g, %g"):format(i, point[1], layer.x[i]))
    assert(point[2] == layer.y[i] or point[2] ~= point[2] and layer.y[i] ~= layer.y[i],
      ("y %d: %g, %g"):format(i, point[2], layer.y[i]))
  end
end

describe("a line", function()
  it("of few points keeps them", function()
    local layer = layer_of(plot.line({ 1, 2, 4 }, { 5, 0 / 0, 7 }))
    assert.are.same({ 1, 2, 4 }, layer.x)
    assert.are.equal(5, layer.y[1])
    assert(layer.y[2] ~= layer.y[2])
    assert.are.same({ 1, 2, 3 }, layer_of(plot.line { 5, 6, 7 }).x)
    assert.are.equal(4000, #layer_of(plot.line(gpu.arange(4000))).x)
  end)

  it("of many points keeps the first, least, greatest and last of each column", function()
    local n = 20011
    local y = gpu.randn(n, "float64")
    y[{ "5000:5100" }] = 0 / 0
    local ys, xs = y:table(), {}
    for i = 1, n do xs[i] = i end
    local starts = {}
    for c = 0, 1000 do starts[c] = math.floor(c * (n / 1000)) end
    local c = 0
    same_points(columns_by_loop(xs, ys, function(i)
      while i - 1 >= starts[c + 1] do c = c + 1 end
      return c
    end), layer_of(plot.line(y)))
  end)

  it("takes columns of x, however its values are spread", function()
    local n = 9000
    local x = (gpu.rand(n, "float64") ^ 3):sort()
    local y = gpu.rand(n, "float32")
    local xs, ys = x:table(), y:table()
    local edges = gpu.linspace(xs[1], xs[n], 1001, "float64"):table()
    local c = 0
    local expected = columns_by_loop(xs, ys, function(_, value)
      while c < 999 and value >= edges[c + 2] do c = c + 1 end
      return c
    end)
    same_points(expected, layer_of(plot.line(x, y)))
    -- The same backwards.
    local back = layer_of(plot.line(x:flip(), y:flip()))
    assert.are.equal(#expected, #back.x)
  end)

  it("keeps a single spike, integers, and a curve that turns back", function()
    local y = gpu.zeros(1000000, "int32")
    y[654321] = 2000000011
    local layer = layer_of(plot.line(y))
    local most = 0
    for _, value in ipairs(layer.y) do most = math.max(most, value) end
    assert.are.equal(2000000011, most)
    assert(#layer.y <= 4000)
    local t = gpu.linspace(0, 6, 10000)
    local circle = layer_of(plot.line(t:cos(), t:sin()))
    assert.are.equal(10000, #circle.x)
  end)
end)

describe("points", function()
  it("of more than 50,000 become a picture of how many there are", function()
    local layer = layer_of(plot.points(gpu.arange(50000), gpu.arange(50000)))
    assert.are.equal("points", layer.kind)
    local x = gpu.concat { gpu.zeros(60000), gpu.ones(1), gpu.array { 0 / 0 } }
    layer = layer_of(plot.points(x, x))
    assert.are.equal("image", layer.kind)
    assert.are.same({ 0, 1, 0, 1 }, layer.extent)
    -- The lower left pixel has all but one, the upper right the one.
    assert(math.abs(layer.rows[300][1] - math.log(60001)) < 1e-12)
    assert(math.abs(layer.rows[1][400] - math.log(2)) < 1e-12)
    assert(layer.rows[1][1] ~= layer.rows[1][1])
  end)
end)

describe("other layers", function()
  it("have what they show", function()
    local bars = layer_of(plot.histogram(gpu.array { 0, 0, 1, 4 }, 4))
    assert.are.same({ 0, 1, 2, 3 }, bars.left)
    assert.are.same({ 1, 2, 3, 4 }, bars.right)
    assert.are.same({ 2, 1, 0, 1 }, bars.y)
    assert.are.same({ 2, 1, 0, 1 }, layer_of(plot.histogram({ 0, 0 / 0, 0, 1 / 0, 1, 4, -1 / 0 }, 4)).y)
    bars = layer_of(plot.bars({ 10, 40, 20 }, { 1, -2, 3 }))
    assert.are.same({ 6, 36, 16 }, bars.left)
    assert.are.same({ 14, 44, 24 }, bars.right)
    assert.are.same({ 1, -2, 3 }, bars.y)
    assert.are.same({ 0.6, 1.6 }, layer_of(plot.bars { 5, 6 }).left)
    local means = gpu.table({ city = { "Oslo", "Bern", "Oslo" }, price = { 2, 4, 6 } }):group_by "city":mean "price"
    bars = plot.bars(means.city, means.price)
    assert.are.same({ "Bern", "Oslo" }, rawget(bars, "options").xnames)
    assert.are.same({ 4, 4 }, layer_of(bars).y)
    local image = layer_of(plot.image(gpu.arange(1601 * 3, "float64"):reshape(1601, 3)))
    assert.are.equal(534, #image.rows) -- blocks of three rows
    assert.are.equal(4, image.rows[1][1] + 0 * image.rows[1][2] + 1) -- (0 + 3 + 6) / 3
    assert.are.same({ 0.5, 3.5, 1602.5, 0.5 }, image.extent)
    local errors = layer_of(plot.errorbars({ 1, 2 }, { 10, 20 }, 1.5))
    assert.are.same({ 8.5, 18.5 }, errors.low)
    assert.are.same({ 11.5, 21.5 }, errors.high)
    local band = layer_of(plot.band(gpu.arange(8000), gpu.arange(8000), gpu.arange(8000) + 1))
    assert.are.equal(1000, #band.low)
    assert.are.equal(0, band.low[1])
    assert.are.equal(8000, band.high[1000])
  end)

  it("contours of a cone are circles", function()
    local i, j = gpu.indices({ 101, 101 }, "float64")
    local r = ((i - 51) ^ 2 + (j - 51) ^ 2):sqrt()
    local layer = layer_of(plot.contour(r, { 20, 40 }))
    local lengths = { [20] = 0, [40] = 0 }
    for _, s in ipairs(layer.segments) do
      for k = 1, 3, 2 do
        assert(math.abs(math.sqrt((s[k] - 51) ^ 2 + (s[k + 1] - 51) ^ 2) - s[5]) < 0.02)
      end
      lengths[s[5]] = lengths[s[5]] + math.sqrt((s[3] - s[1]) ^ 2 + (s[4] - s[2]) ^ 2)
    end
    for level, length in pairs(lengths) do assert(math.abs(length / (2 * math.pi * level) - 1) < 0.002, length) end
    -- Levels between the least and the greatest element.
    layer = layer_of(plot.contour(gpu.array { { 0, 10 }, { 0, 10 } }, 4))
    assert.are.equal(4, #layer.segments)
    assert.are.equal(2, layer.segments[1][5])
  end)
end)

describe("p:save", function()
  local temporary = support.temporary_files(before_each, after_each)
  local function path(name) return temporary("." .. name) end
  local function read(name)
    local file = assert(io.open(path(name), "rb"))
    local text = file:read "*a"
    file:close()
    return text
  end

  drawn("writes SVG with an element for each mark", function()
    local p = plot.points({ 1, 2, 3 }, { 4, 5, 6 }, { title = "A_b^c", xlabel = "x", ylabel = "y", label = "p" })
      :line({ 1, 2, 3 }, { 4, 5, 6 }):errorbars({ 1, 2 }, { 4, 5 }, 0.5)
    assert.is_true(p:save(path "a.svg"))
    local svg = read "a.svg"
    assert(svg:find('id="gnuplot_plot_3"', 1, true) and not svg:find('id="gnuplot_plot_4"', 1, true))
    -- Three blue points and the one of the legend; the two of the error bars.
    assert.are.equal(3 + 1, count(svg, "#gpPt6' transform='[^']*' color='rgb%(  0, 114, 178%)'"))
    assert.are.equal(2, count(svg, "#gpPt6' transform='[^']*' color='rgb%(  0, 158, 115%)'"))
    for _, text in ipairs { "A_b^c", ">x<", ">y<", ">p<" } do assert(svg:find(text, 1, true), text) end
    plot.histogram(gpu.arange(100), 7):save(path "bars.svg")
    assert.are.equal(7, count(read "bars.svg", "<polygon"))
    plot.bars({ "Bern", "Z\195\188rich", "a_b" }, { 3, 1, 2 }):save(path "names.svg")
    assert.are.equal(3, count(read "names.svg", "<polygon"))
    for _, text in ipairs { ">Bern<", ">Z\195\188rich<", ">a_b<" } do assert(read "names.svg":find(text, 1, true), text) end
    plot.grid({ p, p, p }, 2):save(path "grid.svg")
    assert.are.equal(3 * 2, count(read "grid.svg", "#gpPt6' transform='[^']*' color='rgb%(  0, 158, 115%)'"))
  end)

  drawn("writes PNG and PDF of the size", function()
    local p = plot.line({ 1, 2 }):image(gpu.eye(5))
    p:save(path "a.png", { size = { 300, 200 } })
    local picture = gpu.image.load(path "a.png")
    assert.are.equal(200, picture.shape[1])
    assert.are.equal(300, picture.shape[2])
    p:save(path "a.pdf")
    assert.are.equal("%PDF", read("a.pdf"):sub(1, 4))
    -- A link's file is replaced, not the link.
    os.execute(("ln -s '%s' '%s'"):format(path "a.svg", path "link.svg"))
    p:save(path "link.svg")
    assert.are.equal("<?xml", read("a.svg"):sub(1, 5))
  end)

  drawn("lets no text do anything", function()
    local marker = path "marker"
    for i, text in ipairs {
      "'; system 'touch " .. marker .. "'; '", '"; system "touch ' .. marker .. '"', "`touch " .. marker .. "`", "@x $(touch " .. marker .. ")",
      "a\nsystem 'touch " .. marker .. "'\n", "\\", "%d %s", "EOD\n",
    } do
      plot.line({ 1, 2 }, { title = text, xlabel = text, ylabel = text, label = text }):save(path("evil" .. i .. ".svg"))
      assert(not io.open(marker), text)
      plot.bars({ text, "b" }, { 1, 2 }):save(path "bars.svg")
      assert(not io.open(marker), text)
    end
    assert(read "evil1.svg":find("system 'touch", 1, true) or read "evil1.svg":find("system &apos;touch", 1, true) or
      read "evil1.svg":find("system &#39;touch", 1, true))
    assert(read "evil7.svg":find("%d %s", 1, true))
    local name = "it's $(touch marker); `touch marker`.svg"
    plot.line({ 1, 2 }):save(path(name))
    assert(#read(name) > 100)
  end)

  drawn("animates", function()
    plot.animate(path "a.gif", 4, function(i) return plot.line { i, 2 } end, { size = { 100, 80 }, fps = 5 })
    local gif = read "a.gif"
    assert.are.equal("GIF89a", gif:sub(1, 6))
    assert.are.equal(4, count(gif, "\33\249\4")) -- a graphic control extension for each frame
    plot.animate(path "frame-%02d.png", 2, function(i) return plot.line { i, 2 } end)
    assert(#read "frame-01.png" > 100 and #read "frame-02.png" > 100)
  end)

  it("says what to install where gnuplot is missing", function()
    pcall(ffi.cdef, "int gpulua_test_setenv(const char*, const char*, int) __asm__(\"setenv\");")
    local before = os.getenv "PATH"
    ffi.C.gpulua_test_setenv("PATH", "/nowhere", 1)
    local ok, message = pcall(function() plot.line({ 1, 2 }):save(path "b.png") end)
    ffi.C.gpulua_test_setenv("PATH", before, 1)
    assert.is_false(ok)
    assert(message:find("[plot.save] expected the program gnuplot, which is not installed; Debian's package gnuplot-nox has it", 1, true),
      message)
  end)

  it("writes Vega-Lite", function()
    local p = plot.line({ 1, 2 }, { 3, 0 / 0 }, { label = 'a "quoted" </script> label', title = "t\\u", log = "x" }):band({ 1, 2 }, 0 * gpu.ones(2), { 1, 2 })
      :image(gpu.eye(2), { extent = { 0, 1, 0, 1 } })
    p:save(path "a.vl.json", { size = { 300, 200 } })
    local text = read "a.vl.json"
    assert(text:find('"$schema":"https://vega.github.io/schema/vega-lite/v5.json"', 1, true))
    assert(text:find('"data":{"values":[{"x":1,"y":3},{"x":2,"y":null}]}', 1, true), text)
    assert(text:find([["datum":"a \"quoted\" \u003c/script> label"]], 1, true), text)
    assert(text:find([["title":"t\\u"]], 1, true), text)
    assert(text:find('"width":300', 1, true) and text:find('"type":"log"', 1, true))
    assert.are.equal(3, count(text, '"data":{'))
    assert.are.equal(4, count(text, '"value":'))
    assert(not text:find('"legend":null', 1, true))
    p:line({ 1, 2 }, { label = "second" }):save(path "a.vl.json")
    assert.are.equal(1, count(read "a.vl.json", '"legend":null'))
    plot.bars({ 'a "b"', "c\\</d" }, { 3, 1 }):save(path "b.vl.json")
    text = read "b.vl.json"
    assert(text:find([==["labelExpr":"[\"a \\\"b\\\"\",\"c\\\\\\u003c/d\"][datum.value - 1]","values":[1,2]]==], 1, true), text)
    assert(text:find('{"x":0.6,"x2":1.4,"y":3,"y2":0}', 1, true), text)
    plot.grid({ p, p }):save(path "g.vl.json")
    assert.are.equal(8, count(read "g.vl.json", '"data":{'))
  end)
end)

describe("p:show", function()
  local characters = debug.getregistry()["gpulua.library"].core.import("plot_terminal").characters

  it("draws a diagonal", function()
    local p = plot.line({ 0, 1 }, { 0, 1 }, { title = "up", xlabel = "time" })
    local text = characters(p, 24, 4)
    assert.are.equal(8, count(text .. "\n", "\n")) -- title, four of dots, axis, its ends, label
    local rows = {}
    for row in text:gmatch "|([^\n]*)" do rows[#rows + 1] = row end
    -- The upper row ends with dots, the lower row begins with them.
    assert(rows[1]:find "^ +[\226\160-\163\128-\191]+$" and rows[4]:find "^[\226\160-\163\128-\191]+ +$", text)
    assert(text:find("time", 1, true) and text:find("\n  0", 1, true))
    for line in text:gmatch "[^\n]+" do assert(select(2, line:gsub("[^\128-\191]", "")) <= 24, line) end
  end)

  it("clips what is beyond the limits", function()
    local p = plot.line({ -1e9, 1e9 }, { -1e9, 1e9 }, { xlim = { 0, 1 }, ylim = { 0, 1 } })
    assert(count(characters(p, 30, 6), "\226\160\128") == 0)
    assert(count(characters(p, 30, 6), "\226[\160-\163]") > 5)
  end)

  it("writes the names of bars below them, or lists them", function()
    local text = characters(plot.bars({ "Bern", "Oslo", "Z\195\188rich" }, { 1, 2, 3 }), 46, 3)
    local ends = text:match "\n([^\n]*)$"
    assert.are.equal("Bern Oslo Z\195\188rich", (ends:gsub("^ +", ""):gsub(" +", " ")))
    assert(math.abs((ends:find "Oslo" + 1) - 24) <= 2, ends) -- in the middle
    text = characters(plot.bars({ "a name", "another one", "a third" }, { 1, 2, 3 }), 24, 3)
    assert(text:find("1 a name, 2 another one, 3 a third", 1, true), text)
  end)

  it("draws a band over 1, 2, ... where there is no x", function()
    assert.are.equal(characters(plot.band({ 1, 2, 3 }, { 0, 1, 0 }, { 2, 4, 3 }), 40, 8),
      characters(plot.band({ 0, 1, 0 }, { 2, 4, 3 }), 40, 8))
  end)

  it("shows every kind, also of nothing finite", function()
    local nan = gpu.full(3, 0 / 0)
    for _, p in ipairs {
      plot.line(nan), plot.points({ 1 }, { 1 }), plot.histogram { 1, 2, 2 }, plot.image(gpu.eye(4)), plot.contour(gpu.eye(9)),
      plot.band({ 1, 2 }, { 0, 0 }, { 1, 2 }), plot.errorbars({ 1, 2 }, { 1, 2 }, 1, { log = "xy" }),
    } do
      assert(#characters(p, 40, 8) > 100)
    end
  end)
end)

describe("gpu.plot", function()
  it("refuses what it cannot draw", function()
    local p = plot.line { 1, 2 }
    for message, fn in pairs {
      ["[plot.line] expected values, a vector or a list of numbers, got nil"] = function() plot.line() end,
      ["[plot.line] expected as many x as y, got 2 and 3"] = function() plot.line({ 1, 2 }, { 1, 2, 3 }) end,
      ["[plot.line] expected y, a vector of at least one element"] = function() plot.line({ 1, 2 }, gpu.ones(2, 2)) end,
      ["[plot.line] expected real numbers"] = function() plot.line(gpu.array { gpu.complex(1, 2) }) end,
      ['got "colour"; did you mean "color"?'] = function() p:line({ 1, 2 }, { colour = "red" }) end,
      ['[plot.line] expected a colour, "#rrggbb" or one of black, blue'] = function() p:line({ 1, 2 }, { color = "rgb; system" }) end,
      ["[plot.bars] expected heights after the names, got nil"] = function() plot.bars { "a", "b" } end,
      ["[plot.bars] expected as many heights as bars, got 2 and 1"] = function() plot.bars({ "a" }, { 1, 2 }) end,
      ["[plot.bars] expected names, strings alone, got 1"] = function() plot.bars({ "a", 1 }, { 1, 2 }) end,
      ["[plot.bars] expected at most 1000 bars; gpu.plot.histogram counts values"] = function() plot.bars(gpu.ones(1001)) end,
      ["[plot.histogram] expected a value that is finite, got a table"] = function() plot.histogram { 0 / 0 } end,
      ["[plot.line] expected x, numbers, got a column of text, as gpu.plot.bars takes"] = function()
        local t = gpu.table { s = { "a", "b" } }
        plot.line(t.s, { 1, 2 })
      end,
      ["[plot] title is an option of a layer: p:line(x, y, {title = ...})"] = function() p:title "t" end,
      ["[plot.line] expected dash, one of dashed, dotted, solid, got 3"] = function() p:line({ 1, 2 }, { dash = 3 }) end,
      ["[plot.line] expected title, a string, got 3"] = function() p:line({ 1, 2 }, { title = 3 }) end,
      ["[plot.line] expected xlim = {first, last}, two numbers that differ, got {1, 1}"] = function() p:line({ 1, 2 }, { xlim = { 1, 1 } }) end,
      ["[plot.line] expected xlim = {first, last}, two numbers"] = function() p:line({ 1, 2 }, { xlim = { 1 } }) end,
      ["[plot.line] expected a value above 0 for the logarithmic axis y, got none"] = function() plot.line({ 0, -1 }, { log = "y" }) end,
      ["[plot.points] expected a value above 0 for the logarithmic axis x, got none"] = function()
        plot.points({ -2, -1 }, { 1, 2 }):points({ 1, 2 }, { 1, 2 }, { log = "x" })
      end,
      ["[plot.band] expected as many low as high, got 2 and 3"] = function() plot.band({ 1, 2 }, { 1, 2, 3 }) end,
      ["[plot.band] expected high, a vector"] = function() plot.band { 1, 2 } end,
      ["[plot.image] expected a matrix"] = function() plot.image(gpu.ones(3)) end,
      ["[plot.contour] expected a number of levels, from 1 to 1000, or a list of them, got 0"] = function() plot.contour(gpu.eye(3), 0) end,
      ["[plot.errorbars] expected errors of 0 or more"] = function() plot.errorbars({ 1, 2 }, { 1, 2 }, { 1, -1 }) end,
      ["[plot.errorbars] expected an error for each of 2 points"] = function() plot.errorbars({ 1, 2 }, { 1, 2 }, { 1 }) end,
      ["[plot.save] expected a path that ends in .png, .svg, .pdf or .vl.json, got \"a.bmp\""] = function() p:save "a.bmp" end,
      ["[plot.save] cannot open /no/such/folder/a.vl.json"] = function() p:save "/no/such/folder/a.vl.json" end,
      ["[plot.save] expected size = {width, height}, from 50 to 20000 pixels"] = function() p:save("a.svg", { size = { 1, 2 } }) end,
      ["[plot.save] expected a chart, as gpu.plot.line gives, got 3"] = function() plot.save(3, "a.svg") end,
      ['[plot] a chart has no field or method "sav"; did you mean "save"?'] = function() p:sav "a.svg" end,
      ["[plot] expected an option with a layer"] = function() p.title = "t" end,
      ["[plot.grid] expected a list of charts"] = function() plot.grid(p) end,
      ["[plot.grid] expected a chart, as gpu.plot.line gives, got 1"] = function() plot.grid { 1 } end,
      ["[plot.line] expected a chart, got a grid of charts"] = function() plot.grid({ p }):line { 1 } end,
      ["[plot.animate] expected a path that ends in .gif"] = function() plot.animate("a.mp4", 2, print) end,
    } do
      fails(message, fn)
    end
    assert.are.equal("a chart: line; p:save(path) draws it, p:show() on the terminal", tostring(p))
  end)
end)

describe("texts in pictures", function()
  drawn("are drawn as they are: titles, labels, names", function()
    local signs = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }
    for _, text in ipairs { "200,000 paths", "2024-05-31", "sigma = 0.5", "100%g", "%%", "S&P 500", [[a\n1]], "it's", 'q"1"', "`date`1",
      "@x1", "{/b}1", "x_1^2", "a<b1", "1é", [[\054000]] } do
      local path = os.tmpname() .. ".svg"
      local line = { title = text .. " t", xlabel = text .. " x", ylabel = text .. " y", label = text .. " l" }
      plot.grid { plot.line({ 1, 4, 9 }, line), plot.bars({ text .. " n", "other" }, { 1, 2 }) }:save(path)
      local file = io.open(path)
      local svg = file:read "*a"
      file:close()
      os.remove(path)
      for what in ("txyln"):gmatch "." do
        local wanted = ">" .. (text .. " " .. what):gsub("[&<>]", signs) .. "<"
        assert(svg:find(wanted, 1, true), wanted)
      end
    end
  end)
end)
