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
    window:clear {1, 0.5, 0, 0.25}
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
    window:draw(row, {color = {1, 0.5, 0}})
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

describe_windows("misuse of windows", function()
  local window = has_window and open(4, 4)

  it("is refused for options that are none", function()
    fails('[window] expected the options width, height, title, vsync, resizable, headless and device, got "with"', gpu.window, {with = 3})
    fails("[window] expected width = a number of pixels from 1 to 16384, got 0", gpu.window, {width = 0})
    fails("[window] expected height = a number of pixels from 1 to 16384, got 2.5", gpu.window, {height = 2.5})
    fails("[window] expected title = a text, got 3", gpu.window, {title = 3})
    fails("[window] expected headless = true or false, got 1", gpu.window, {headless = 1})
    fails('[window:draw] expected the options size, color, colormap, min, max, limits and camera, got "colour"', window.draw, window,
      {{0, 0}}, {colour = {1, 1, 1}})
    fails("[window:image]", window.image, window, gpu.ones(2, 2), {limits = {0, 1}})
    fails("[window:present]", window.present, window, 1)
    fails("[window] expected one of the fields width, height", function() return window.size end)
    fails("[window] expected no new field", function() window.width = 3 end)
  end)

  it("is refused for positions", function()
    fails("[window:draw] expected positions, an array of shape (n,2) or (n,3), got", window.draw, window, gpu.ones(3))
    fails("x.T has a row for each position", window.draw, window, gpu.ones(2, 50))
    fails("[window:draw] expected positions", window.draw, window, 3)
    fails("[window:lines]", window.lines, window, gpu.ones(4, 2):astype "complex64")
    fails("[window:draw] expected size = a number of pixels above 0, got 0", window.draw, window, {{0, 0}}, {size = 0})
    fails("[window:draw] size: expected at most", window.draw, window, {{0, 0}}, {size = 1e6})
    fails("[window:lines] expected width = a number of pixels above 0, got", window.lines, window, {{0, 0}}, {width = "2"})
    fails("[window:draw] expected limits = {left, right, bottom, top}", window.draw, window, {{0, 0}}, {limits = {0, 1}})
    fails("[window:draw] limits: expected two different numbers for each axis, got 1 twice", window.draw, window, {{0, 0}},
      {limits = {1, 1, 0, 1}})
    fails("[window:draw] expected limits or camera, got both", window.draw, window, {{0, 0}}, {limits = {0, 1, 0, 1}, camera = {from = {1, 1, 1}}})
    fails('[window:draw] camera: expected the fields from, to, up and angle, got "form"; did you mean "from"?', window.draw, window, {{0, 0}},
      {camera = {form = {1, 1, 1}}})
    fails("[window:draw] camera.up: expected another direction than that of the view", window.draw, window, {{0, 0}},
      {camera = {from = {0, 5, 0}}})
    fails("[window:draw] camera: expected two places from and to, got one", window.draw, window, {{0, 0}}, {camera = {from = {0, 0, 0}}})
  end)

  it("is refused for colours", function()
    fails("[window:clear] expected color = a list of red, green, blue and perhaps opacity, numbers from 0 to 1, got 255", window.clear,
      window, {255, 0, 0})
    fails("[window:draw] expected color = colours of shape (2,3) or (2,4), one for each position", window.draw, window, {{0, 0}, {1, 1}},
      {color = gpu.ones(3, 3)})
    fails("[window:draw] expected a colormap with min and max, got none", window.draw, window, {{0, 0}}, {min = 0})
    fails("[window:draw] expected color = an array of numbers, which the colormap colours", window.draw, window, {{0, 0}},
      {colormap = "viridis"})
  end)

  it("is refused for pictures", function()
    fails("[window:image] expected pixels of shape (height,width), (height,width,3) or (height,width,4), got", window.image, window, gpu.ones(3))
    fails("[window:image] expected pixels of shape", window.image, window, gpu.ones(2, 2, 2))
    fails("[window:image] expected an array, got a table", window.image, window, {{1}})
    fails('[window:image] expected colours as uint8, or as floating-point numbers from 0 to 1, got int32; x:astype("uint8")', window.image,
      window, gpu.ones(2, 2, {dtype = "int32"}))
    fails("viridis", window.image, window, gpu.ones(2, 2), {colormap = "viridi"})
    fails("[window:image] expected min below max, got 2 and 1", window.image, window, gpu.ones(2, 2), {colormap = "gray", min = 2, max = 1})
    fails("[window:image] colormap: expected numbers of shape (height,width), got colours (2,2,3)", window.image, window, gpu.ones(2, 2, 3),
      {colormap = "gray"})
    fails("[window:image] expected place = {x, y, width, height}", window.image, window, gpu.ones(2, 2), {place = {1, 2}})
  end)

  it("is refused while work is recorded", function()
    local x, other = gpu.rand(4, 2), gpu.zeros(4, 2)
    for _, call in ipairs {{"draw", x}, {"lines", x}, {"image", x}, {"read"}} do
      fails(("[window:%s] expected a call outside of a function that gpu.fuse or gpu.graph records"):format(call[1]), gpu.graph, function()
        other:add_(1)
        window[call[1]](window, unpack(call, 2))
      end)
    end
  end)

  it("is refused for keys", function()
    fails('[window:key] expected a key: a letter, a digit, space, return,', window.key, window, "spcae")
    fails('did you mean "space"?', window.pressed, window, "spcae")
    fails("[window:key]", window.key, window, 3)
  end)

  it("is refused after window:close()", function()
    local closed = open(2, 2)
    closed:close()
    for _, call in ipairs {{"clear"}, {"draw", {{0, 0}}}, {"lines", {{0, 0}, {1, 1}}}, {"image", gpu.ones(2, 2)}, {"present"}, {"read"},
      {"resize", 3, 3}, {"key", "a"}, {"pressed", "a"}, {"mouse"}, {"with", print}, {"buffer", 3, "float32"}, {"save", "x.png"}} do
      fails("expected a window that is open, got one after window:close()", closed[call[1]], closed, unpack(call, 2))
    end
    assert.equal(2, closed.width)
  end)
end)
