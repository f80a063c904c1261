-- Messages of gpu.load and gpu.image.load about damaged files.
local gpu = require "gpu"
local support = require "support"
local read, write, npy = support.read, support.write, support.npy

local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/files/"
local golden = dofile(folder .. "index.lua")

describe("damaged files are refused:", function()
  local temporary = support.temporary_files(before_each, after_each)
  local function fails(text, bytes, suffix)
    local path = temporary(suffix or ".npy")
    write(path, bytes)
    support.fails(text, gpu.load, path)
  end

  it("what is neither format", function()
    fails("expected a .npy or .npz file, got other data", "")
    fails("expected a .npy or .npz file, got text; gpu.loadtxt reads", "name,value\n1,2\n")
    fails("expected version 1.0, 2.0 or 3.0 of the format, got 4.0", "\x93NUMPY\4\0\0\0\0\0")
  end)

  it("headers", function()
    local function header(shape, descr, order)
      return npy(("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n"):format(descr or "'<f4'", order or "False", shape), 12)
    end
    fails("the file ends in it", "\x93NUMPY")
    fails("the file ends in it", "\x93NUMPY\1\0\255\255{")
    fails("the file ends in it", "\x93NUMPY\2\0\255\255\255\255{}")
    fails("no {", npy "")
    fails("no descr, fortran_order or shape", npy "{}")
    fails("no descr, fortran_order or shape", npy "{'descr': '<f4'}")
    fails("a key other than", npy "{'descr': '<f4', 'descr': '<f4'}")
    fails("a key other than", npy "{'dtype': '<f4'}")
    fails("a string without end", npy "{'descr")
    fails("neither True nor False", header("(3,)", nil, "1"))
    fails("trailing characters after the dictionary", npy "{'descr': '<f4', 'fortran_order': False, 'shape': (), } x")
    for _, size in ipairs { "-1", "x", "99999999999999999999", "" } do
      fails("a size that is not an integer", header("(" .. size .. ",)"))
    end
    fails("no )", header("(3.5,)"))
    fails('got ""', header("(3,)", "''"))
    fails('got ">"', header("(3,)", "'>'"))
    fails('got "<f3"', header("(3,)", "'<f3'"))
    fails("at most 64 dimensions", header("(" .. ("1,"):rep(65) .. ")"))
  end)

  it("more elements than there are bytes", function()
    for _, shape in ipairs { "(4,)", "(1000000000000,)", "(9007199254740992,)", "(65536, 65536, 65536)" } do
      fails("expected float32 of shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': " .. shape .. "}", 12))
    end
    fails("expected a shape of at most 2^53 elements, got (",
      npy "{'descr': '<f4', 'fortran_order': False, 'shape': (9007199254740993,)}")
    fails("expected a shape of at most 2^53 elements, got (",
      npy "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}")
    local bytes = read(folder .. "three.npy")
    for length = 0, #bytes - 1, 7 do fails("[load] ", bytes:sub(1, length)) end
  end)

  it("archives", function()
    local bytes = read(folder .. "named.npz")
    for length = 0, #bytes - 1, 7 do fails("[load] ", bytes:sub(1, length), ".npz") end
    -- One bit of an element: the archive's sums tell.
    local at = assert(bytes:find("\0\0\128\63", 1, true))
    fails("CRC error", bytes:sub(1, at - 1) .. "\1" .. bytes:sub(at + 1), ".npz")
    assert.are.same({}, (function()
      local path = temporary ".npz"
      write(path, "PK\5\6" .. ("\0"):rep(18))
      return gpu.load(path)
    end)())
  end)

  it("archives whose members share their bytes", function()
    local path = temporary ".npz"
    assert(gpu.save(path, { x = gpu.zeros(1000) }))
    local bytes = read(path)
    local directory, ending = bytes:find("PK\1\2", 1, true), bytes:find("PK\5\6", 1, true)
    local listed = bytes:sub(directory, ending - 1)
    local size = 2 * #listed
    local twice = bytes:sub(1, ending - 1) .. listed:gsub("x%.npy", "y.npy") .. bytes:sub(ending, ending + 7)
      .. "\2\0\2\0" .. string.char(size % 256, math.floor(size / 256)) .. "\0\0" .. bytes:sub(ending + 16)
    fails("(y.npy): the archive is damaged: it cannot hold the 4128 bytes that it promises", twice, ".npz")
  end)

  it("archives with two arrays of one name", function()
    local path = temporary ".npz"
    assert(gpu.save(path, { x = gpu.zeros(3), y = gpu.ones(3) }))
    fails("(x.npy): expected members of different names, got two", (read(path):gsub("y%.npy", "x.npy")), ".npz")
  end)

  it("whatever stands in them", function()
    local path = temporary ".npy"
    local state = 12345
    local function random(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return math.floor(state / 65536) % n
    end
    local pieces = { "-", "9", "999999999999", "(", ")", "{", "'", ",", "L", "\0", "\255", "True", ">", "<c16", "|O", ":", " ", "\n" }
    local function mutate(bytes, most)
      for _ = 0, random(4) do
        local at = 1 + random(math.min(most, #bytes))
        local piece = random(2) == 0 and pieces[1 + random(#pieces)] or string.char(random(256))
        local removed = random(3)
        bytes = bytes:sub(1, at - 1) .. piece .. bytes:sub(at + removed)
      end
      return bytes
    end
    local good, bad = 0, 0
    local function try(load, bytes)
      write(path, bytes)
      local ok, value = pcall(load, path)
      if ok then
        good = good + 1
      else
        assert(value:find("load] " .. path, 1, true), value)
        bad = bad + 1
      end
    end
    for _, file in ipairs { "three.npy", "fortran_big.npy", "bool.npy", "complex64_big.npy", "version2.npy", "python2.npy", "scalar.npy" } do
      local bytes = read(folder .. file)
      for _ = 1, 600 do try(gpu.load, mutate(bytes, 130)) end
    end
    for _, file in ipairs { "named.npz", "compressed.npz" } do
      local bytes = read(folder .. file)
      for _ = 1, 600 do try(gpu.load, mutate(bytes, #bytes)) end
    end
    for _, entry in ipairs(golden.pictures) do
      local bytes = read(folder .. entry.file)
      for _ = 1, 60 do try(gpu.image.load, mutate(bytes, #bytes)) end
    end
    assert.is_true(good > 100 and bad > 1000)
  end)
end)
