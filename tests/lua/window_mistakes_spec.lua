-- What gpu.window and the methods of windows refuse.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local function open(width, height) return gpu.window {width = width, height = height, headless = true} end

local has_window, first = pcall(open, 4, 4)

local function describe_windows(name, cases)
  describe(name, function()
    if not has_window then return it("are there", function() pending(tostring(first)) end) end
    cases()
  end)
end

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
