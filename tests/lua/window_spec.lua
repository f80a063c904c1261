-- gpu.window without a display: what was drawn, pixel by pixel, beside plain Lua.
local gpu = require "gpu"
local support = require "support"
local graphics = require "graphics_support"
local fails = support.fails

local function open(width, height) return gpu.window {width = width, height = height, headless = true} end

local has_window, first = pcall(open, 4, 4)

--- The pixels as a list of rows of {r, g, b, a}.
local function pixels(window) return window:read():table() end

--- The places of the pixels that are not black: {x, y} from 1, row by row.
local function places(window)
  local list = {}
  for y, row in ipairs(pixels(window)) do
    for x, pixel in ipairs(row) do
      if pixel[1] + pixel[2] + pixel[3] > 0 then list[#list + 1] = {x, y} end
    end
  end
  return list
end

--- The middle of the pixel x, y of a window in the coordinates of the default limits.
local function middle(window, x, y) return {(2 * x - 1) / window.width - 1, 1 - (2 * y - 1) / window.height} end

local function describe_windows(name, cases)
  describe(name, function()
    if not has_window then return it("are there", function() pending(tostring(first)) end) end
    cases()
  end)
end

describe_windows("gpu.window", function()
  it("has a size, is open until it is closed, and is black", function()
    local window = open(7, 5)
    assert.equal(7, window.width)
    assert.equal(5, window.height)
    assert.equal("window of 7 x 5 pixels", tostring(window))
    assert.is_true(window:is_open())
    local picture = window:read()
    assert.equal("uint8", picture.dtype)
    assert.same({5, 7, 4}, {picture.shape[1], picture.shape[2], picture.shape[3]})
    support.same(gpu.array({0, 0, 0, 255}, "uint8"):broadcast_to(5, 7, 4), picture)
    window:present()
    window:close()
    window:close()
    assert.is_false(window:is_open())
  end)

  it("clears", function()
    local window = open(3, 2)
    window:clear {1, 128 / 255, 0, 64 / 255}
    for _, row in ipairs(pixels(window)) do
      for _, pixel in ipairs(row) do assert.same({255, 128, 0, 64}, pixel) end
    end
    window:clear()
    assert.same({}, places(window))
  end)

  it("has new pixels after a resize", function()
    local window = open(3, 2)
    window:clear {1, 1, 1}
    window:resize(9, 8)
    assert.equal(9, window.width)
    assert.equal(8, window.height)
    assert.same({}, places(window))
    window:draw({middle(window, 9, 8)})
    assert.same({{9, 8}}, places(window))
  end)

  it("has no keys and no mouse without a display", function()
    local window = open(3, 2)
    assert.is_false(window:key "space")
    assert.is_false(window:pressed "a")
    local mouse = window:mouse()
    assert.same({0, 0, false, false, false, 0}, {mouse.x, mouse.y, mouse.left, mouse.right, mouse.middle, mouse.wheel})
  end)

  it("saves PNG files", function()
    local window = open(6, 4)
    local picture = gpu.random.integers({4, 6, 4}, 0, 255):astype "uint8"
    picture[{":", ":", 4}] = 255
    window:image(picture)
    local path = os.tmpname() .. ".png"
    window:save(path)
    support.same(picture, assert(gpu.image.load(path)))
    os.remove(path)
  end)
end)

describe_windows("window:image", function()
  it("draws bytes as they are, the top row first", function()
    local window = open(64, 48)
    local picture = gpu.random.integers({48, 64, 4}, 0, 255):astype "uint8"
    picture[{":", ":", 4}] = 255
    window:image(picture)
    support.same(picture, window:read())
    local colors = picture(":", ":", {1, 3}):contiguous()
    window:clear()
    window:image(colors)
    support.same(picture, window:read())
    -- A view of another array, and each pixel as four.
    window:clear()
    local half = picture({1, 24}, {1, 32})
    window:image(half)
    support.same(half:repeat_interleave(2, 1):repeat_interleave(2, 2), window:read())
  end)

  it("draws fractions, gray and colour maps", function()
    local window = open(4, 1)
    window:image(gpu.array {{0, 0.5, 1, 2}})
    assert.same({{{0, 0, 0, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}, {255, 255, 255, 255}}}, pixels(window))
    window:image(gpu.array({{0, 7, 200, 255}}, "uint8"))
    assert.same({{{0, 0, 0, 255}, {7, 7, 7, 255}, {200, 200, 200, 255}, {255, 255, 255, 255}}}, pixels(window))
    window:image(gpu.array({{{0.5, 0, 1}, {0, 0, 0}, {0 / 0, 1, -1}, {1, 1, 1}}}, "float64"))
    assert.same({{{128, 0, 255, 255}, {0, 0, 0, 255}, {0, 255, 0, 255}, {255, 255, 255, 255}}}, pixels(window))
  end)

  it("has the colours of gpu.image.save", function()
    local path = os.tmpname() .. ".png"
    for _, options in ipairs {{colormap = "viridis"}, {colormap = "gray", min = 0.25, max = 0.5}, {colormap = "coolwarm", max = 0.75}} do
      local window, x = open(40, 30), gpu.rand(30, 40)
      gpu.image.save(path, x, options)
      window:image(x, options)
      support.same(assert(gpu.image.load(path)), window:read()(":", ":", {1, 3}):contiguous())
    end
    -- A map stays where it is first used in a scope.
    local scoped, y = open(2, 1), gpu.array {{0, 1}}
    for _ = 1, 2 do gpu.scope(function() scoped:image(y, {colormap = "magma"}) end) end
    assert.same({{{0, 0, 4, 255}, {252, 253, 191, 255}}}, pixels(scoped))
    local window, x = open(3, 1), gpu.array {{1, 0 / 0, 3}}
    window:clear {0, 0, 1}
    window:image(x, {colormap = "gray"})
    assert.same({{{0, 0, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}}, pixels(window))
    window:image(gpu.ones(1, 3), {colormap = "gray"})
    assert.same({{{0, 0, 0, 255}, {0, 0, 0, 255}, {0, 0, 0, 255}}}, pixels(window))
    os.remove(path)
  end)

  it("blends by opacity", function()
    local window = open(1, 1)
    window:clear {0, 0, 1}
    window:image(gpu.array {{{1, 0, 0, 0.5}}})
    local pixel = pixels(window)[1][1]
    support.near({128, 0, 127, 255}, pixel, 0.02)
  end)

  it("has a place in the window", function()
    local window = open(8, 6)
    window:image(gpu.full({1, 1, 3}, 1.0), {place = {2, 1, 3, 2}})
    assert.same({{3, 2}, {4, 2}, {5, 2}, {3, 3}, {4, 3}, {5, 3}}, places(window))
  end)

  it("is smooth between pixels where it is told to", function()
    local window = open(4, 1)
    window:image(gpu.array {{0, 1}}, {smooth = true})
    local row = pixels(window)[1]
    assert.equal(0, row[1][1])
    assert.equal(255, row[4][1])
    support.near(64, row[2][1], 0.03)
    support.near(191, row[3][1], 0.03)
  end)
end)

describe_windows("window:draw", function()
  it("draws a pixel for each position", function()
    local window = open(16, 12)
    window:draw(gpu.array {middle(window, 1, 1), middle(window, 16, 12), middle(window, 5, 7)})
    assert.same({{1, 1}, {5, 7}, {16, 12}}, places(window))
    window:clear()
    window:draw(gpu.array({{3.5, 2.5}, {0.5, 11.5}}, "float64"), {limits = {0, 16, 12, 0}})
    assert.same({{4, 3}, {1, 12}}, places(window))
    window:clear()
    window:draw(gpu.array({{3, 2}}, "int32"), {limits = {0, 16, 0, 12}, size = 2})
    assert.same({{3, 10}, {4, 10}, {3, 11}, {4, 11}}, places(window))
    window:clear()
    window:draw(gpu.zeros(0, 2))
    window:draw(gpu.array {{0 / 0, 0}, {5, 5}})
    assert.same({}, places(window))
  end)

  it("draws discs", function()
    local window = open(21, 21)
    window:draw({{0, 0}}, {size = 11})
    local picture = pixels(window)
    for y = 1, 21 do
      for x = 1, 21 do
        local distance = math.sqrt((x - 11) ^ 2 + (y - 11) ^ 2)
        if distance < 4.9 then assert.equal(255, picture[y][x][1], x .. "," .. y) end
        if distance > 6.1 then assert.equal(0, picture[y][x][1], x .. "," .. y) end
      end
    end
  end)

  it("has one colour, or one for each position", function()
    local window = open(3, 1)
    local row = gpu.array {middle(window, 1, 1), middle(window, 2, 1), middle(window, 3, 1)}
    window:draw(row, {color = {1, 128 / 255, 0}})
    for _, pixel in ipairs(pixels(window)[1]) do assert.same({255, 128, 0, 255}, pixel) end
    local colors = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
    local expected = {{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}}}
    window:draw(row, {color = gpu.array(colors)})
    assert.same(expected, pixels(window))
    window:clear()
    window:draw(row, {color = (gpu.array(colors) * 255):astype "uint8"})
    assert.same(expected, pixels(window))
    window:clear()
    window:draw(row, {color = gpu.array {0, 5, 10}, colormap = "gray"})
    assert.same({{{0, 0, 0, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}}}, pixels(window))
  end)

  it("draws what is pending, and views", function()
    local window = open(8, 1)
    local x = gpu.arange(8):astype "float32" * 2
    window:draw(gpu.stack({(x + 1) / 8 - 1, x * 0}, 2)("::2"), {})
    assert.same({{1, 1}, {3, 1}, {5, 1}, {7, 1}}, places(window))
    window:clear()
    window:draw(gpu.stack({(x + 1) / 8 - 1, x * 0}).T)
    assert.equal(8, #places(window))
  end)

  it("stays while a buffer of the window's is mapped", function()
    local window = open(4, 4)
    local b = window:buffer(1000, "float32")
    b:with(function(x)
      fails("[window:close] expected no call within b:with of a buffer of the window's: its memory is in use", window.close, window)
      x:fill_(1)
    end)
    window:close()
    -- Nor does the collector take it.
    window = open(4, 4)
    b = window:buffer(1000, "float32")
    assert.equal(1000, b:with(function(x)
      window = nil
      collectgarbage()
      collectgarbage()
      x:fill_(1)
      return x:sum():item()
    end))
    b:release()
  end)

  it("draws a buffer of the window's without a copy", function()
    local window = open(8, 8)
    local b = window:buffer({2, 2}, "float32")
    b:with(function(x) x:copy_(gpu.array {middle(window, 2, 3), middle(window, 8, 1)}) end)
    window:draw(b, {color = {0, 1, 0}})
    assert.same({{8, 1}, {2, 3}}, places(window))
    local other = open(2, 2)
    fails("[window:draw] expected a buffer of this window, which window:buffer makes, got one of another OpenGL context", other.draw,
      other, b)
    b:with(function() fails("[window:draw] expected a buffer that is not mapped", window.draw, window, b) end)
    fails("[window:draw] expected a buffer of float32 of shape (n,2) or (n,3), got float32(3,)", window.draw, window, window:buffer(3, "float32"))
  end)

  it("hides by depth with limits of three axes and with a camera", function()
    local window = open(9, 9)
    local points, colors = gpu.array {{0, 0, 0.5}, {0, 0, -0.5}}, gpu.array {{1, 0, 0}, {0, 1, 0}}
    local function center() return pixels(window)[5][5] end
    window:draw(points, {color = colors})
    assert.same({0, 255, 0, 255}, center()) -- the last one: depths do not count
    window:clear()
    window:draw(points, {color = colors, limits = {-1, 1, -1, 1, -1, 1}})
    assert.same({255, 0, 0, 255}, center())
    window:clear()
    window:draw(points, {color = colors, camera = {from = {0, 0, 5}}})
    assert.same({255, 0, 0, 255}, center())
    window:clear()
    window:draw(points, {color = colors, camera = {from = {0, 0, -5}}})
    assert.same({0, 255, 0, 255}, center())
  end)

  it("sees positions as a camera does", function()
    local window = open(200, 100)
    local camera = {from = {3, 4, 5}, to = {1, 0, 0}, up = {0, 0, 1}, angle = 60}
    -- By the definition: along the axes of the camera, over the distance ahead.
    local function sub(a, b) return {a[1] - b[1], a[2] - b[2], a[3] - b[3]} end
    local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
    local function cross(a, b) return {a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1]} end
    local function unit(a) local n = math.sqrt(dot(a, a)) return {a[1] / n, a[2] / n, a[3] / n} end
    local ahead = unit(sub(camera.to, camera.from))
    local right = unit(cross(ahead, camera.up))
    local above = cross(right, ahead)
    for _, p in ipairs {{0.5, -0.25, 0.75}, {1.5, 1.1, -0.5}, {-0.4, 0.55, 0.1}} do
      local d = sub(p, camera.from)
      local half = dot(d, ahead) * math.tan(math.rad(camera.angle / 2)) -- the window's height over 2, at that distance
      local x = math.floor(100 + 50 * dot(d, right) / half) + 1
      local y = math.floor(50 - 50 * dot(d, above) / half) + 1
      window:clear()
      window:draw({p}, {camera = camera})
      assert.same({{x, y}}, places(window))
    end
    window:clear()
    window:draw({{6, 8, 10}}, {camera = camera}) -- behind the eye
    assert.same({}, places(window))
  end)
end)

describe_windows("window:lines", function()
  it("joins positions, and has a width", function()
    local window = open(12, 8)
    window:lines({middle(window, 3, 2), middle(window, 6, 2), middle(window, 6, 4)})
    assert.same({{3, 2}, {4, 2}, {5, 2}, {6, 2}, {6, 3}, {6, 4}}, places(window))
    window:clear()
    window:lines({{0, 4}, {12, 4}}, {limits = {0, 12, 8, 0}, width = 2, color = {0, 0, 1}})
    assert.equal(24, #places(window))
    assert.same({0, 0, 255, 255}, pixels(window)[4][12])
    assert.same({0, 0, 255, 255}, pixels(window)[5][1])
  end)

  it("begins anew behind NaN, and takes a colour for each position", function()
    local window = open(9, 1)
    local nan = 0 / 0
    local row = {middle(window, 1, 1), middle(window, 3, 1), {nan, nan}, middle(window, 7, 1), middle(window, 8, 1)}
    window:lines(row, {color = gpu.array {{1, 0, 0}, {1, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 0}}})
    assert.same({{1, 1}, {2, 1}, {3, 1}, {7, 1}, {8, 1}}, places(window))
    local got = pixels(window)[1]
    assert.same({255, 0, 0, 255}, got[2])
    assert.same({0, 255, 0, 255}, got[7])
  end)

  it("ends at the eye of a camera", function()
    local window = open(9, 9)
    window:lines({{0, 0, -10}, {0, 0, 10}, {1, 0, 10}, {1, 0, 20}}, {camera = {from = {0, 0, 5}}})
    assert.is_true(#places(window) >= 1)
  end)
end)

describe_windows("windows", function()
  it("are several at once, and each has its own pixels", function()
    local a, b = open(2, 2), open(3, 3)
    a:clear {1, 0, 0}
    b:clear {0, 1, 0}
    assert.same({255, 0, 0, 255}, pixels(a)[1][1])
    assert.same({0, 255, 0, 255}, pixels(b)[3][3])
    a:close()
    assert.same({0, 255, 0, 255}, pixels(b)[3][3])
    b:close()
  end)

  it("run OpenGL of the program's", function()
    local window = open(2, 2)
    local _, gl = graphics.libraries()
    local result = window:with(function(x)
      gl.glClearColor(0, 0, 1, 1)
      gl.glClear(0x4000)
      local b = gpu.gl.buffer(2, "float32") -- it is the window's
      window:draw({{0.5, 0.5}}, {color = {1, 1, 1}})
      return x, b
    end, 5)
    assert.equal(5, result)
    assert.same({{{0, 0, 255, 255}, {255, 255, 255, 255}}, {{0, 0, 255, 255}, {0, 0, 255, 255}}}, pixels(window))
    fails("over", window.with, window, function() error "over" end)
    window:with(function() fails("[window:with] expected no window:with inside of window:with", window.with, window, function() end) end)
    fails("[gl.buffer] expected a current OpenGL context", gpu.gl.buffer, 2, "float32")
  end)

  it("take arrays of other devices", function()
    local window = open(2, 1)
    window:image(gpu.array({{{1, 2, 3, 255}, {4, 5, 6, 255}}}, {dtype = "uint8", device = "cpu"}))
    assert.same({{{1, 2, 3, 255}, {4, 5, 6, 255}}}, pixels(window))
    assert.equal("cpu", window:read({device = "cpu"}).device)
  end)

  it("keep no object or memory in a thousand frames", function()
    local window = open(32, 32)
    local points, picture, line = gpu.rand(500, 2), gpu.rand(32, 32, 3), gpu.rand(50, 2)
    local function frame()
      window:clear()
      window:image(picture)
      window:draw(points, {size = 3})
      window:lines(line)
      window:present()
    end
    for _ = 1, 10 do frame() end
    window:read()
    local used, objects = support.used(), window:with(graphics.count_buffers)
    for _ = 1, 1000 do frame() end
    window:read()
    assert.equal(used, support.used())
    assert.equal(objects, window:with(graphics.count_buffers))
  end)
end)
