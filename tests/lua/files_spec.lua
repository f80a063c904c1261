-- gpu.save and gpu.load. What the files hold is NumPy's word: tests/golden/files/make.py wrote them and the index.
local gpu = require "gpu"
local support = require "support"

local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/files/"
local golden = dofile(folder .. "index.lua")

local read, write, npy = support.read, support.write, support.npy

--- True for the same numbers at the same positions, also for 64-bit integers and complex numbers.
local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  if #a ~= #b then return false end
  for i = 1, #a do
    if not equal(a[i], b[i]) then return false end
  end
  return true
end

local function check(entry, x)
  assert(x.dtype == entry.dtype, entry.file .. ": got " .. x.dtype)
  assert.are.same(entry.shape, x.shape)
  assert(equal(entry.values, x:table()), entry.file .. ": other values")
end

describe("files", function()
  local temporary = support.temporary_files(before_each, after_each)

  describe(".npy", function()
    it("loads what NumPy wrote: every dtype, byte order, layout and version", function()
      for _, entry in ipairs(golden.arrays) do
        if not entry.refused then
          check(entry, assert(gpu.load(folder .. entry.file)))
          check(entry, assert(gpu.load(folder .. entry.file, { mmap = false, device = gpu.device() })))
        end
      end
    end)

    it("saves the bytes that NumPy writes", function()
      local path, count = temporary ".npy", 0
      for _, entry in ipairs(golden.arrays) do
        if entry.written then
          assert.is_true(gpu.save(path, gpu.load(folder .. entry.file)))
          assert(read(path) == read(folder .. entry.file), entry.file .. ": other bytes")
          count = count + 1
        end
      end
      assert.is_true(count >= 20)
    end)

    it("gives Fortran order as a view", function()
      local x = gpu.load(folder .. "fortran.npy")
      assert.are.same({ 4, 8, 24 }, x.strides)
    end)

    it("saves views, and what other devices read", function()
      local path = temporary ".npy"
      local x = gpu.arange(24, "int32"):reshape(4, 6)
      assert(gpu.save(path, x.T))
      assert.are.same(x.T:table(), gpu.load(path):table())
      assert(gpu.save(path, x[{ 2, 3 }]))
      assert.are.same(x[{ 2, 3 }]:table(), gpu.load(path):table())
      assert.are.equal("cpu", tostring(gpu.load(path, { device = "cpu" }).device))
    end)

    it("takes any byte but 0 for true", function()
      local path = temporary ".npy"
      write(path, npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n") .. "\0\1\255")
      assert.are.same({ false, true, true }, gpu.load(path):table())
      assert.are.same({ 0, 1, 1 }, gpu.load(path):astype("uint8"):table())
    end)

    it("refuses element types that it does not have, and says which", function()
      local function fails(text, file) support.fails(text, gpu.load, folder .. file) end
      fails("structured.npy: expected elements of bool, int8", "structured.npy")
      fails("got a structured type", "structured.npy")
      fails('got "|O" (Python objects; x.astype("float64") makes numbers of numbers)', "objects.npy")
      fails('got "<U3" (strings; numpy.savetxt(', "strings.npy")
      fails('got "|S3" (strings; numpy.savetxt(', "bytes.npy")
      fails('got "<M8[M]" (times of another unit; x.astype("datetime64[s]") has a unit that is read)', "times.npy")
      fails('complex64, complex128, got "<f16"', "long_double.npy")
      for _, entry in ipairs(golden.arrays) do
        if entry.refused then fails("[load] " .. folder .. entry.file, entry.file) end
      end
    end)
  end)

  describe("of times", function()
    local all = assert(gpu.load(folder .. "times.npz"))
    local nat = -2 ^ 63

    it("are columns of dates and durations", function()
      for _, entry in ipairs(golden.times) do
        local d, values = all[entry.name], {}
        for i, value in ipairs(entry.values) do values[i] = value or nat end
        assert.are.same({entry.kind, entry.unit}, {d.kind, d.unit}, entry.name)
        local counts = d:table()
        for i, value in ipairs(values) do assert(tonumber(counts[i]) == tonumber(value), entry.name) end
      end
      assert.are.equal(36, #golden.times)
      assert.are.equal("2024-02-29 12:34:56.789", all.M8_ms_big[1])
    end)

    it("are written as NumPy writes them", function()
      local path, other, count = temporary ".npy", temporary ".npz", 0
      for _, entry in ipairs(golden.times) do
        if entry.written then
          local d = all[entry.name]
          assert.is_true(gpu.save(path, d))
          assert.is_true(gpu.save(other, {d = d, x = gpu.ones(2)}))
          local text, code = read(path), (entry.kind == "date" and "M8[" or "m8[") .. (entry.unit == "days" and "D" or entry.unit) .. "]"
          assert(text:find("'descr': '<" .. code .. "', 'fortran_order': False, 'shape': (3,)", 1, true), code)
          for _, back in ipairs {gpu.load(path), gpu.load(other).d} do
            assert.are.same({d.kind, d.unit}, {back.kind, back.unit})
            assert.is_true(gpu.array_equal(d:copy(), back:copy()))
          end
          count = count + 1
        end
      end
      assert.are.equal(10, count)
      assert.are.equal("float32", gpu.load(other).x.dtype)
    end)

    it("say what is not read or written", function()
      local path = temporary ".npy"
      local function headed(text)
        write(path, "\147NUMPY\1\0" .. string.char(#text, 0) .. text .. ("\0"):rep(7) .. "\127" .. ("\0"):rep(24))
        return gpu.load(path)
      end
      support.fails("expected a vector of times, got them of shape (2,2); save x.ravel()", headed,
        "{'descr':'<M8[s]','fortran_order':False,'shape':(2,2)}")
      support.fails("expected times in the range of 64 bits", headed, "{'descr':'<M8[W]','fortran_order':False,'shape':(1,)}")
      for _, unit in ipairs {"", "[]", "[0s]", "[Y]", "[s", "[99999999999999999999s]", "[ss]"} do
        support.fails("got \"<M8" .. unit, headed, "{'descr':'<M8" .. unit .. "','fortran_order':False,'shape':(1,)}")
      end
      support.fails("expected numbers, got a column of text", gpu.save, path, gpu.table {a = {"x"}}.a)
    end)
  end)

  describe(".npz", function()
    local x, y
    before_each(function() x, y = gpu.arange(24, "float32"):reshape(2, 3, 4), gpu.arange(6, "float64"):reshape(2, 3) end)

    it("loads what NumPy wrote", function()
      for _, file in ipairs { "named.npz", "compressed.npz" } do
        local all = assert(gpu.load(folder .. file))
        local names = {}
        for name in pairs(all) do names[#names + 1] = name end
        table.sort(names)
        assert.are.same({ "größe", "weights", "x" }, names)
        assert.are.same(x:table(), all.x:table())
        assert.are.same(y:table(), all["größe"]:table())
        assert.are.equal("float16", all.weights.dtype)
        assert.are.same(gpu.load(folder .. "float16.npy"):reshape(6):table(), all.weights:table())
      end
      local list = gpu.load(folder .. "list.npz", { mmap = false })
      assert.are.same(y:table(), list.arr_0:table())
      assert.are.same(x:table(), list.arr_1:table())
    end)

    it("saves tables by name and by number", function()
      local path = temporary ".npz"
      assert.is_true(gpu.save(path, { x = x, y = y.T, z = gpu.zeros(0), ["größe"] = gpu.array(7) }))
      local all = gpu.load(path)
      assert.are.same(x:table(), all.x:table())
      assert.are.same(y.T:table(), all.y:table())
      assert.are.same({ 0 }, all.z.shape)
      assert.are.equal(7, all["größe"]:item())
      assert(gpu.save(path, { y, x, more = x }))
      all = gpu.load(path)
      assert.are.same(y:table(), all.arr_0:table())
      assert.are.same(x:table(), all.arr_1:table())
      assert.are.same(x:table(), all.more:table())
    end)

    it("stores the bytes of .npy files, and the same ones each time", function()
      local path, member = temporary ".npz", temporary ".npy"
      assert(gpu.save(path, { x = x, y = y }))
      assert(gpu.save(member, x))
      local bytes = read(path)
      assert.is_truthy(bytes:find(read(member), 1, true))
      assert.is_truthy(bytes:find(read(folder .. "three.npy"), 1, true))
      assert(gpu.save(path, { y = y, x = x }))
      assert.is_true(bytes == read(path))
    end)

    it("names the arrays there are where one is missing", function()
      local path = temporary ".npz"
      assert(gpu.save(path, { positions = x, masses = y }))
      local state = gpu.load(path)
      local text = "[load] expected a name of " .. path .. ", which has masses, positions, got "
      support.fails(text .. '"position"; did you mean "positions"?', function() return state.position end)
      support.fails(text .. "1", function() return state[1] end)
      assert.is_nil(rawget(state, "position"))
    end)

    it("compresses", function()
      local path = temporary ".npz"
      local zeros = gpu.zeros(100000)
      assert(gpu.save(path, { x = zeros }, { compress = true }))
      assert.is_true(#read(path) < 4000)
      assert.are.same({ 100000 }, gpu.load(path).x.shape)
      assert(gpu.save(path, { x = x }, { compress = true }))
      assert.are.same(x:table(), gpu.load(path).x:table())
    end)

    it("refuses what it cannot name", function()
      local path = temporary ".npz"
      local function fails(text, value, options) support.fails(text, gpu.save, path, value, options or {}) end
      fails("[save] expected a table of arrays for a .npz file, got an array float32[2x3x4]", x)
      fails("[save] expected at least one array, got an empty table", {})
      fails('[save] expected an array named "a", got 3', { a = 3 })
      fails('[save] expected an array named "arr_0", got a table', { { 1, 2 } })
      fails("expected names of arrays that are strings, or a list of arrays, got 1.5", { [1.5] = x })
      fails("expected names of arrays that are strings, or a list of arrays, got true", { [true] = x })
      fails('[save] two arrays are called "arr_0"', { x, arr_0 = y })
      fails("expected a name without zero bytes", { ["a\0b"] = x })
      fails("cannot name an array", { ["\255\254"] = x })
      fails('expected the option compress for a .npz file, got "level"', { x = x }, { level = 3 })
      fails("expected a boolean for compress, got 1", { x = x }, { compress = 1 })
      assert.is_nil(io.open(path))
    end)
  end)

  it("gives nil and a message for files that cannot be opened, and raises for those that cannot be written", function()
    local function fails(text, ...)
      local x, message = ...
      assert.is_nil(x)
      assert.are.equal(text, message)
    end
    local x = gpu.ones(3)
    fails("[load] cannot open /nowhere/x.npy: No such file or directory; there is no folder /nowhere", gpu.load "/nowhere/x.npy")
    fails("[load] cannot open /tmp: Is a directory", gpu.load "/tmp")
    fails("[load] cannot open /dev/zero: not a regular file", gpu.load "/dev/zero")
    for _, path in ipairs { "/nowhere/x.npy", "/nowhere/x.npz" } do
      support.fails("[save] cannot open " .. path .. ": No such file or directory; there is no folder /nowhere", gpu.save, path, path:find "npz" and { x } or x)
    end
    fails("[image.load] cannot open /tmp: Is a directory", gpu.image.load "/tmp")
    local folder_path = temporary ".npy"
    assert(os.execute("mkdir " .. folder_path) == 0)
    support.fails("[save] cannot open " .. folder_path .. ": Is a directory", gpu.save, folder_path, x)
  end)

  it("names the file that was not there where its nil is used", function()
    local output, status = support.run [[
      local gpu = require "gpu"
      local x = gpu.load "/nowhere/x.npy"
      print(select(2, pcall(gpu.exp, x)))
      print(x + 1)
    ]]
    assert.are.equal(1, status)
    local reason = "%(perhaps from [^:]*:2: %[load%] cannot open /nowhere/x%.npy: No such file or directory; there is no folder /nowhere%)"
    assert.is_truthy(output:find("%[exp%] expected [^\n]*, got nil " .. reason), output)
    assert.is_truthy(output:find(":4: attempt to perform arithmetic on local 'x' %(a nil value%).*/nowhere/x%.npy"), output)
    output = support.run "local d = require('gpu').device 'tpu:7'\nprint(d.name)"
    assert.is_truthy(output:find ":2: attempt to index local 'd' %(a nil value%).*tpu:7", output)
    output = support.run [[
      local gpu = require "gpu"
      local function read() return gpu.load "/nowhere" end
      local x = read()
      print(1 + x)
    ]]
    assert.is_truthy(output:find ":4: attempt to perform arithmetic on local 'x' %(a nil value%) %(perhaps from .*/nowhere", output)
    output = support.run "local gpu = require 'gpu'\ngpu.exp((gpu.load '/nowhere'))"
    assert.is_truthy(output:find("got nil (perhaps from", 1, true), output)
  end)

  it("does not name it for another nil, nor once the script has seen to it", function()
    for _, text in ipairs {
      "print(nothing + 1)",
      "local x = gpu.load '/nowhere'\nprint(nothing + 1)",
      "local x = gpu.load '/nowhere'\nx = 1\nprint(x + nothing)",
      "y = 1; x = gpu.load '/nowhere'\nx = 1\nprint(x + nothing)",
      "gpu.load '/nowhere'\nprint(gpu.exp(nothing))",
      "local x = gpu.load '/nowhere' or gpu.ones(3)\nprint(nothing + x)",
      "if not gpu.load '/nowhere' then io.write 'none' end\nprint(nothing + 1)",
      "local function a() local z = gpu.load '/nowhere' end\nfor i = 1, 2 do pcall(a) if i == 2 then\n"
        .. "local function b() gpu.exp(nothing) end b() end end",
      "local x = gpu.load '/nowhere'\nlocal t = {}\nt.f()",
      "local x = gpu.load '/nowhere'\nx = gpu.ones(3)\nx.f()",
    } do
      local output, status = support.run("local gpu = require 'gpu'\n" .. text)
      assert.are.equal(1, status)
      assert.is_nil(output:find("perhaps", 1, true), output)
    end
  end)

  it("take no path with a zero byte", function()
    local path = temporary ".npy"
    write(path, "precious")
    local x = gpu.ones(3)
    support.fails('[save] expected a path without zero bytes, got one after "' .. path .. '"', gpu.save, path .. "\0.npy", x)
    support.fails("[save] expected a path without zero bytes", gpu.save, path .. "\0.npz", { x })
    support.fails("[image.save] expected a path without zero bytes", gpu.image.save, path .. "\0.png", gpu.zeros({ 2, 2 }, "uint8"))
    support.fails("[load] expected a path without zero bytes", gpu.load, path .. "\0.npy")
    support.fails("[image.load] expected a path without zero bytes", gpu.image.load, path .. "\0")
    assert.are.equal("precious", read(path))
  end)

  it("save under names as long as the system has them, and over links that lead nowhere yet", function()
    local place = temporary "_place"
    assert(os.execute(("mkdir %s && ln -s later.npy %s/link.npy && ln -s loop.npy %s/loop.npy"):format(place, place, place)) == 0)
    local long = place .. "/" .. ("a"):rep(251) .. ".npy"
    gpu.save(long, gpu.ones(3))
    gpu.save(place .. "/link.npy", gpu.ones(4))
    assert.are.same({ 3 }, gpu.load(long).shape)
    assert.are.same({ 4 }, gpu.load(place .. "/later.npy").shape)
    assert.are.equal(0, os.execute(("test -L %s/link.npy"):format(place)))
    support.fails("Too many levels of symbolic links", gpu.save, place .. "/loop.npy", gpu.ones(3))
    support.fails("File name too long", gpu.save, place .. "/" .. ("a"):rep(252) .. ".npy", gpu.ones(3))
    os.execute("rm -r " .. place)
  end)

  it("ask for the device's memory before they take the host's", function()
    local path = temporary ".npz"
    gpu.save(path, { x = gpu.zeros(2 ^ 24) }, { compress = true }) -- 64 MB in 65 KB
    local output = support.run(([[
      local gpu = require "gpu"
      local function peak() return tonumber(io.open("/proc/self/status"):read("*a"):match "VmHWM:%%s+(%%d+)") end
      gpu.set_memory_limit(2 ^ 20)
      pcall(gpu.zeros, 2 ^ 19) -- what the device needs of the host
      local before = peak()
      print(select(2, pcall(gpu.load, %q)))
      print(peak() - before < 20000)
    ]]):format(path))
    assert.is_truthy(output:find("[memory] out of memory", 1, true), output)
    assert.is_truthy(output:find("true\n$"), output)
  end)

  it("keeps the old file when saving fails", function()
    local place = temporary "_place"
    assert(os.execute("mkdir " .. place) == 0)
    local npy_path, npz_path, png_path = place .. "/x.npy", place .. "/x.npz", place .. "/x.png"
    local old = gpu.arange(10, "uint8")
    assert(gpu.save(npy_path, old) and gpu.save(npz_path, { x = old }))
    assert(gpu.image.save(png_path, gpu.zeros({ 2, 2 }, "uint8")))
    local before = { read(npy_path), read(npz_path), read(png_path) }

    -- The file size limit of a separate process stands in for a full disk.
    local output = support.run(([[
      local ffi, gpu = require "ffi", require "gpu"
      ffi.cdef "struct limit { unsigned long now, most; }; int setrlimit(int, const struct limit*); void* signal(int, intptr_t);"
      ffi.C.signal(25, 1) -- SIGXFSZ is ignored: writing fails instead
      local x = gpu.arange(100000, "int64")
      local noise = (function()
        local t, state = {}, 1
        for i = 1, 10000 do
          state = state * 16807 %% 2147483647
          t[i] = state %% 256
        end
        return gpu.array(t, "uint8"):reshape(100, 100)
      end)()
      gpu.eval(x, noise) -- whatever must be compiled is compiled before
      ffi.C.setrlimit(1, ffi.new("struct limit", 4096, 4096))
      print(select(2, pcall(gpu.save, %q, x)))
      print(select(2, pcall(gpu.save, %q, {x = x})))
      print(select(2, pcall(gpu.image.save, %q, noise)))
    ]]):format(npy_path, npz_path, png_path))
    assert.is_truthy(output:find("[save] cannot write " .. npy_path .. ": File too large", 1, true), output)
    assert.is_truthy(output:find("[save] cannot write " .. npz_path, 1, true), output)
    assert.is_truthy(output:find("[image.save] cannot write " .. png_path, 1, true), output)
    assert.are.same(before, { read(npy_path), read(npz_path), read(png_path) })
    local left = io.popen("ls -A " .. place)
    assert.are.equal("x.npy\nx.npz\nx.png\n", left:read "*a")
    left:close()

    support.fails("bfloat16; x:astype \"float32\" keeps its values", gpu.save, npy_path, gpu.zeros(3, "bfloat16"))
    support.fails("bfloat16", gpu.save, npz_path, { a = old, b = gpu.zeros(3, "bfloat16") })
    local freed = gpu.ones(100)
    freed:free()
    support.fails("freed", gpu.save, npz_path, { a = old, b = freed })
    assert.are.same({ before[1], before[2] }, { read(npy_path), read(npz_path) })
    os.execute("rm -r " .. place)
  end)

  it("writes where links lead and keeps the file's mode", function()
    local path, link = temporary ".npy", temporary "_link.npy"
    assert(gpu.save(path, gpu.ones(3)))
    assert(os.execute(("chmod 640 %s && ln -s %s %s"):format(path, path, link)) == 0)
    assert(gpu.save(link, gpu.ones(5)))
    assert.are.same({ 5 }, gpu.load(path).shape)
    assert.are.equal(0, os.execute(("test -L %s && test $(stat -c %%a %s) = 640"):format(link, path)))
  end)

describe(".safetensors", function()
    --- A file with this header, followed by elements.
    local function tensors(header, elements)
      return string.char(#header % 256, math.floor(#header / 256)) .. ("\0"):rep(6) .. header .. (elements or "")
    end

    it("has the bytes of the format", function()
      local path = temporary ".safetensors"
      gpu.save(path, { b = gpu.array({ 1, 2 }, "int16"), a = gpu.array({ { 1.5 } }) }, { metadata = { by = "a \"b\"\n" } })
      local header = [[{"__metadata__":{"by":"a \"b\"\u000a"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},]]
        .. [["b":{"dtype":"I16","shape":[2],"data_offsets":[4,8]}}]]
      header = header .. (" "):rep(-#header % 8)
      assert.are.equal(tensors(header, "\0\0\192\63\1\0\2\0"), read(path))
    end)

    it("comes back in every dtype and shape", function()
      local path, arrays = temporary ".safetensors", {}
      for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
        "float32", "float64" } do
        arrays[dtype] = gpu.arange(6):remainder(2):astype(dtype):reshape(2, 3)
      end
      arrays.none, arrays.one = gpu.zeros(0, 3), gpu.full({}, 7)
      arrays["m\195\188.weight"] = gpu.arange(12):reshape(3, 4).T
      assert(gpu.save(path, arrays))
      local back = gpu.load(path, { mmap = false })
      for name, x in pairs(arrays) do support.same(x, back[name], name) end
      support.fails('which has bfloat16, bool', function() return back.nothing end)
    end)

    it("may be damaged", function()
      local path = temporary ".safetensors"
      local function fails(text, bytes)
        write(path, bytes)
        support.fails(text, gpu.load, path)
      end
      fails("expected a .safetensors file, got other data", "abc")
      fails("got other data, or a part of one", "\255\255\255\255\255\255\255\255{}")
      fails("the header is damaged: no {", tensors "[]")
      fails("trailing characters", tensors "{} x")
      local function one(fields) return tensors('{"x":{' .. fields .. "}}", "\0\0\0\0") end
      fails("data_offsets that are not a range", one '"dtype":"F32","shape":[1]')
      fails("data_offsets that are not a range", one '"dtype":"F32","shape":[1],"data_offsets":[4,0]')
      fails("the file is cut off: it has 4 bytes", one '"dtype":"F32","shape":[2],"data_offsets":[0,8]')
      fails("the file is cut off", one '"dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807]')
      fails("expected float32 of shape (2,), got 4 bytes", one '"dtype":"F32","shape":[2],"data_offsets":[0,4]')
      fails('expected elements of BOOL, I8', one '"dtype":"C64","shape":[],"data_offsets":[0,4]')
      fails("a string without end", tensors '{"x')
      fails("two arrays called", tensors('{"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}', "\0"))
      support.fails('expected real numbers in the array "z" of a .safetensors file, got complex64', gpu.save, path,
        { z = gpu.zeros(1, "complex64") })
      -- Arrays over each other, a hole before, between and after them; those of no elements are anywhere between others.
      local function two(first, second, bytes)
        local entry = '"%s":{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}'
        return tensors("{" .. entry:format("x", first[2] - first[1], first[1], first[2]) .. ","
          .. entry:format("y", second[2] - second[1], second[1], second[2]) .. "}", ("\1"):rep(bytes))
      end
      fails("(y): expected arrays without gaps or overlaps, this one at byte 4, got it at byte 0", two({0, 4}, {0, 4}, 4))
      fails("(y): expected arrays without gaps or overlaps, this one at byte 4, got it at byte 3", two({0, 4}, {3, 7}, 7))
      fails("(x): expected arrays without gaps or overlaps, this one at byte 0, got it at byte 1", two({1, 4}, {4, 7}, 7))
      fails("(x): expected arrays without gaps or overlaps, this one at byte 3, got it at byte 4", two({4, 7}, {0, 3}, 7))
      fails("expected the arrays' 7 bytes after the header, got 8", two({0, 4}, {4, 7}, 8))
      fails("expected the arrays' 0 bytes after the header, got 1", tensors("{}", "\0"))
      for _, places in ipairs {{{4, 7}, {0, 4}}, {{0, 7}, {7, 7}}, {{0, 0}, {0, 7}}, {{0, 7}, {0, 0}}} do
        write(path, two(places[1], places[2], 7))
        local back = gpu.load(path)
        assert.are.same({places[1][2] - places[1][1], places[2][2] - places[2][1]}, {back.x.size, back.y.size})
      end
      local whole = one '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
      for length = 0, #whole - 1 do
        write(path, whole:sub(1, length))
        assert(not pcall(gpu.load, path))
      end
    end)
  end)

  describe(".h5", function()
    it("has datasets in groups, of every dtype and shape", function()
      local path, arrays = temporary ".h5", {}
      for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64", "complex64", "complex128" } do
        arrays["a/" .. dtype] = (gpu.arange(6) * 0.75):remainder(2):astype(dtype):reshape(2, 3)
      end
      arrays["a/b/none"], arrays.one, arrays.turned = gpu.zeros(0, 3), gpu.full({}, 7), gpu.arange(12):reshape(3, 4).T
      assert.is_true(gpu.save(path, arrays))
      assert.are.equal("\137HDF\r\n\26\n", read(path):sub(1, 8))
      local back = gpu.load(path)
      for name, x in pairs(arrays) do
        support.same(x, back[name], name)
        support.same(x, gpu.load(path, { name = name }), name)
      end
      support.fails('did you mean "turned"?', function() return back.turnd end)
    end)

    it("says what is wrong", function()
      local path = temporary ".h5"
      gpu.save(path, { ["g/x"] = gpu.ones(3) })
      support.fails('expected the name of a dataset, got "g"', gpu.load, path, { name = "g" })
      support.fails('expected the name of a dataset, got "y"', gpu.load, path, { name = "y" })
      support.fails('expected the options device and name for an HDF5 file, got "mmap"', gpu.load, path, { mmap = true })
      support.fails("expected a dtype that HDF5 has, got bfloat16", gpu.save, path, { x = gpu.ones(1, "bfloat16") })
      support.fails("fails", gpu.save, path, { x = gpu.ones(1), ["x/y"] = gpu.ones(1) })
      assert.are.equal(3, gpu.load(path)["g/x"].size)
      write(path, "no file of HDF5")
      support.fails("expected an HDF5 file, got other data", gpu.load, path)
      local x, message = gpu.load "/nowhere/a.h5"
      assert(x == nil and message:find("cannot open /nowhere/a.h5", 1, true))
    end)

    it("names the package where libhdf5 is not installed", function()
      local output, status = support.run_without("libhdf5_serial.so.103 libhdf5_serial.so.310", "require('gpu').save('x.h5', {x = require('gpu').ones(1)})")
      assert(status == 1 and output:find("apt-get install libhdf5-103-1", 1, true), output)
    end)
  end)

  it("are plain elements, where the path says so", function()
    local path = temporary ".bin"
    assert(gpu.save(path, gpu.arange(6, "int16"):reshape(2, 3).T))
    assert.are.equal("\0\0\3\0\1\0\4\0\2\0\5\0", read(path))
    assert.are.same({ { 3, 1 }, { 4, 2 } }, gpu.load(path, { dtype = "int16", shape = { 2, 2 }, offset = 2 }):table())
    assert.are.same({ 5 }, gpu.load(path, { dtype = "int16", offset = 10 }):table())
    support.fails("expected 9 elements of int16", gpu.load, path, { dtype = "int16", shape = { 3, 3 } })
    support.fails("expected whole elements of float64", gpu.load, path, { dtype = "float64" })
  end)

  it("have their format by the ending, in capitals too", function()
    for _, ending in ipairs { ".NPY", ".Npy" } do
      local path = temporary(ending)
      gpu.save(path, gpu.ones(2))
      assert.are.equal("\147NUMPY", read(path):sub(1, 6))
      assert.are.same({ 1, 1 }, gpu.load(path):table())
    end
  end)

  it("says what it takes", function()
    local x, path = gpu.ones(3), temporary ".npy"
    support.fails('[save] expected a path that ends in .npy, .npz, .csv, .tsv, .h5, .hdf5, .safetensors, .bin or .raw, got "x.mat"', gpu.save, "x.mat", x)
    support.fails("[save] expected an array for a .npy file, where a .npz file takes a table of arrays, got a table", gpu.save, path, { x })
    support.fails('[save] expected no options for a .npy file, got "compress"', gpu.save, path, x, { compress = true })
    support.fails("[load] expected the path of a file, got nil", gpu.load)
    support.fails("[load] expected a boolean for mmap, got 1", gpu.load, folder .. "one.npy", { mmap = 1 })
  end)
end)
