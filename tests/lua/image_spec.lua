-- gpu.image: PNG files and colour maps.
local gpu = require "gpu"
local support = require "support"

local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/files/"

describe("gpu.image", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function round_trip(x, options)
    assert.is_true(gpu.image.save(path, x, options or {}))
    return assert(gpu.image.load(path))
  end

  it("keeps gray, colour and transparent pictures as they are", function()
    for _, shape in ipairs { { 3, 5 }, { 4, 3, 3 }, { 2, 7, 4 }, { 1, 1 } } do
      local n = 1
      for _, extent in ipairs(shape) do n = n * extent end
      local flat = {}
      for i = 1, n do flat[i] = (i * 37) % 256 end
      local x = gpu.array(flat, "uint8"):reshape(shape)
      local y = round_trip(x)
      assert.are.equal("uint8", y.dtype)
      assert.are.same(shape, y.shape)
      assert.are.same(x:table(), y:table())
    end
  end)

  it("loads every kind of PNG file", function()
    for _, entry in ipairs(dofile(folder .. "index.lua").pictures) do
      local x = assert(gpu.image.load(folder .. entry.file))
      assert(x.dtype == entry.dtype, entry.file .. ": got " .. x.dtype)
      assert.are.same(entry.shape, x.shape)
      assert.are.same(entry.values, x:table())
    end
  end)

  it("saves views", function()
    local x = gpu.array({ { 1, 2, 3 }, { 4, 5, 6 } }, "uint8")
    assert.are.same(x.T:table(), round_trip(x.T):table())
  end)

  it("says how floats become greys", function()
    local x = gpu.array({{0, 0.5}, {1, 1.5}})
    local ok, message = pcall(gpu.image.save, path, x)
    assert(not ok and message:find('(x * 255):clip(0, 255):astype("uint8") makes greys', 1, true), message)
    gpu.image.save(path, (x * 255):clip(0, 255):astype("uint8"))
    assert.are.same({{0, 127}, {255, 255}}, gpu.image.load(path):table())
    ok, message = pcall(gpu.image.save, path, x:astype "int32")
    assert(not ok and message:find("viridis", 1, true) and not message:find("greys", 1, true), message)
  end)

  it("draws numbers in colours", function()
    local x = gpu.array { { 0, 1 }, { 0.5, 0.25 } }
    assert.are.same({ { { 0, 0, 0 }, { 255, 255, 255 } }, { { 128, 128, 128 }, { 64, 64, 64 } } },
      round_trip(x, { colormap = "gray" }):table())
    local viridis = round_trip(x, { colormap = "viridis" }):table()
    assert.are.same({ 68, 1, 84 }, viridis[1][1])
    assert.are.same({ 253, 231, 37 }, viridis[1][2])
    assert.are.same({ 252, 255, 164 }, round_trip(x, { colormap = "inferno" }):table()[1][2])
    assert.are.same({ 255, 255, 255 }, round_trip(x, { colormap = "hot" }):table()[1][2])
  end)

  it("scales from min to max and clips", function()
    local x = gpu.array({ { -10, 0, 5, 10, 99 } }, "int32")
    local row = round_trip(x, { colormap = "gray", min = 0, max = 10 }):table()[1]
    assert.are.same({ { 0, 0, 0 }, { 0, 0, 0 }, { 128, 128, 128 }, { 255, 255, 255 }, { 255, 255, 255 } }, row)
  end)

  it("draws what is not finite, and constants", function()
    local x = gpu.array { { 0 / 0, 0, 1, math.huge, -math.huge } }
    local row = round_trip(x, { colormap = "gray" }):table()[1]
    local transparent, black, white = { 0, 0, 0, 0 }, { 0, 0, 0, 255 }, { 255, 255, 255, 255 }
    assert.are.same({ transparent, black, white, white, black }, row)
    assert.are.same({ { { 0, 0, 0 }, { 0, 0, 0 } } }, round_trip(gpu.full({ 1, 2 }, 3), { colormap = "gray" }):table())
    assert.are.same({ { { 0, 0, 0, 0 } } }, round_trip(gpu.full({ 1, 1 }, 0 / 0), { colormap = "gray" }):table())
    assert.are.same({ { { 255, 255, 255 }, { 0, 0, 0 } } },
      round_trip(gpu.array { { true, false } }, { colormap = "gray" }):table())
  end)

  it("gives nil and a message for files that cannot be opened, and raises for those that cannot be written", function()
    local x, message = gpu.image.load "/nowhere/x.png"
    assert.is_nil(x)
    assert.is_truthy(message:find("[image.load] cannot open /nowhere/x.png: No such file", 1, true))
    support.fails("[image.save] cannot open /nowhere/x.png: No such file", gpu.image.save, "/nowhere/x.png",
      gpu.zeros({ 2, 2 }, "uint8"))
  end)

  it("refuses what is no PNG", function()
    local file = assert(io.open(path, "wb"))
    file:write "this is not a picture, whatever its name may be"
    file:close()
    support.fails("[image.load] " .. path, gpu.image.load, path)
    assert(gpu.image.save(path, gpu.zeros({ 50, 50 }, "uint8")))
    file = assert(io.open(path, "rb"))
    local bytes = file:read "*a"
    file:close()
    file = assert(io.open(path, "wb"))
    file:write(bytes:sub(1, -30))
    file:close()
    support.fails("[image.load] " .. path, gpu.image.load, path)
    file = assert(io.open(path, "wb"))
    file:close()
    support.fails("[image.load] " .. path .. ": not a PNG file", gpu.image.load, path)
  end)

  it("refuses pictures that the file cannot hold", function()
    local file = assert(io.open(folder .. "gray8.png", "rb"))
    local bytes = file:read "*a"
    file:close()
    -- Its header with 1,000,000 by 1,000,000 pixels, and the sum that goes with it.
    file = assert(io.open(path, "wb"))
    file:write(bytes:sub(1, 16), "\0\15\66\64\0\15\66\64\8\0\0\0\0\121\6\103\161", bytes:sub(34))
    file:close()
    support.fails("[image.load] " .. path .. ": it cannot hold the pixels that it promises", gpu.image.load, path)
  end)

  it("takes no more memory for a damaged picture than the file has of it", function()
    local bit = require "bit"
    local function crc(text)
      local value = bit.bnot(0)
      for i = 1, #text do
        value = bit.bxor(value, text:byte(i))
        for _ = 1, 8 do value = bit.bxor(bit.rshift(value, 1), bit.band(0xEDB88320, -bit.band(value, 1))) end
      end
      return bit.bnot(value)
    end
    local function word(n)
      return string.char(bit.band(bit.rshift(n, 24), 255), bit.band(bit.rshift(n, 16), 255), bit.band(bit.rshift(n, 8), 255), bit.band(n, 255))
    end
    local function chunk(kind, data) return word(#data) .. kind .. data .. word(crc(kind .. data)) end
    -- 20 KB that promise 20 million bytes (8000 x 2500 of one), or 160 million (a bit a pixel), and hold noise; interlaced or not.
    local bound = os.getenv "ASAN_OPTIONS" and 1e6 or 10000 -- KB; a sanitizer keeps what was freed
    local output = {}
    for _, shape in ipairs { { 2500, 8 }, { 20000, 1 } } do
      for interlaced = 0, 1 do
        local file = assert(io.open(path, "wb"))
        file:write("\137PNG\r\n\26\n", chunk("IHDR", word(8000) .. word(shape[1]) .. string.char(shape[2], 0, 0, 0, interlaced)),
          chunk("IDAT", ("\1\2\3\4"):rep(5000)), chunk("IEND", ""))
        file:close()
        output[#output + 1] = support.run(([[
          local gpu = require "gpu"
          local function peak() return tonumber(io.open("/proc/self/status"):read("*a"):match "VmHWM:%%s+(%%d+)") end
          pcall(gpu.zeros, 1) -- what the device needs of the host
          local before = peak()
          print(select(2, pcall(gpu.image.load, %q)))
          print(peak() - before < %d)
        ]]):format(path, bound))
      end
    end
    for _, text in ipairs(output) do
      assert.is_truthy(text:find("[image.load] " .. path, 1, true), text)
      assert.is_truthy(text:find "true\n$", text)
    end
  end)

  it("reads whatever stands in a file, or raises", function()
    local state = 1
    local function random(n)
      state = state * 16807 % 2147483647
      return state % n
    end
    local damaged = 0
    for _, name in ipairs { "gray8.png", "palette_alpha.png", "interlaced.png" } do
      local file = assert(io.open(folder .. name, "rb"))
      local bytes = file:read "*a"
      file:close()
      for _ = 1, 60 do
        local changed = bytes
        for _ = 0, random(3) do
          local at = 1 + random(#changed)
          changed = changed:sub(1, at - 1) .. (random(3) > 0 and string.char(random(256)) or "") .. changed:sub(at + random(3))
        end
        file = assert(io.open(path, "wb"))
        file:write(changed)
        file:close()
        local ok, x = pcall(gpu.image.load, path)
        if not ok then
          damaged = damaged + 1
          assert.is_truthy(x:find("[image.load] " .. path, 1, true), x)
        end
      end
    end
    assert.is_true(damaged > 30)
  end)

  it("says what it takes", function()
    local function fails(text, x, options) support.fails(text, gpu.image.save, path, x, options or {}) end
    fails("[image.save] expected uint8 of shape (height,width), (height,width,3) or (height,width,4), got float32[2x2]", gpu.zeros(2, 2))
    fails("got uint8[2x2x2]", gpu.zeros({ 2, 2, 2 }, "uint8"))
    fails("got uint8[0x2]", gpu.zeros({ 0, 2 }, "uint8"))
    fails("[image.save] expected real numbers of shape (height,width), got float32[4]", gpu.zeros(4), { colormap = "hot" })
    fails("expected real numbers", gpu.zeros({ 2, 2 }, "complex64"), { colormap = "hot" })
    fails('[colormap] expected one of cividis, coolwarm, cubehelix, gray, hot, inferno, magma, phase, plasma, purplegreen, twilight, viridis, got "jet"', gpu.zeros(2, 2), { colormap = "jet" })
    fails("[image.save] expected a colormap with min and max, got none", gpu.zeros(2, 2), { min = 0 })
    fails("expected min below max, got 1 and 1", gpu.zeros(2, 2), { colormap = "hot", min = 1, max = 1 })
    fails("expected an array, got a table", { { 1 } })
  end)
end)
