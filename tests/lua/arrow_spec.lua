-- gpu.from_arrow and gpu.to_arrow. The structs are read and made here by the FFI, as the Arrow C data interface describes them.
local gpu = require "gpu"
local support = require "support"
local ffi = require "ffi"

ffi.cdef [[
  struct ArrowSchema {
    const char* format; const char* name; const char* metadata; int64_t flags; int64_t n_children; struct ArrowSchema** children;
    struct ArrowSchema* dictionary; void (*release)(struct ArrowSchema*); void* private_data;
  };
  struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children; const void** buffers; struct ArrowArray** children;
    struct ArrowArray* dictionary; void (*release)(struct ArrowArray*); void* private_data;
  };
]]

local function structs() return ffi.new "struct ArrowSchema[1]", ffi.new "struct ArrowArray[1]" end
local function release(schema, array)
  schema[0].release(schema)
  array[0].release(array)
  assert(schema[0].release == nil and array[0].release == nil)
end

describe("the Arrow C data interface", function()
  it("has the columns of a table", function()
    local schema, array = structs()
    gpu.to_arrow(gpu.table({i = gpu.array({1, -2, 3}, "int16"), x = {0.5, 0 / 0, 2}, ok = {true, false, true}, s = {"b", "a", "b"}},
      {"i", "x", "ok", "s"}), schema, array)
    local s, a = schema[0], array[0]
    assert.are.equal("+s", ffi.string(s.format))
    assert.are.same({4, 4, 3, 0, 1}, {tonumber(s.n_children), tonumber(a.n_children), tonumber(a.length), tonumber(a.null_count),
      tonumber(a.n_buffers)})
    for i, expected in ipairs {"s i", "g x", "b ok", "i s"} do
      assert.are.equal(expected, ffi.string(s.children[i - 1].format) .. " " .. ffi.string(s.children[i - 1].name))
      assert.are.equal(2, tonumber(a.children[i - 1].n_buffers))
      assert(a.children[i - 1].buffers[0] == nil)
    end
    local function buffer(i, ctype) return ffi.cast(ctype, a.children[i].buffers[1]) end
    local integers, numbers = buffer(0, "const int16_t*"), buffer(1, "const double*")
    assert.are.same({1, -2, 3}, {integers[0], integers[1], integers[2]})
    assert(numbers[0] == 0.5 and numbers[1] ~= numbers[1] and numbers[2] == 2)
    assert.are.equal(5, buffer(2, "const uint8_t*")[0])
    local positions, texts = buffer(3, "const int32_t*"), a.children[3].dictionary[0]
    assert.are.same({1, 0, 1}, {positions[0], positions[1], positions[2]})
    local offsets = ffi.cast("const int64_t*", texts.buffers[1])
    assert.are.same({0, 1, 2}, {tonumber(offsets[0]), tonumber(offsets[1]), tonumber(offsets[2])})
    assert.are.equal("ab", ffi.string(texts.buffers[2], 2))
    assert.are.equal("U", ffi.string(s.children[3].dictionary.format))
    release(schema, array)
  end)

  it("comes back", function()
    local columns = {s = {"x", "", "y", "x"}}
    for _, dtype in ipairs {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
      "float64"} do
      columns[dtype] = gpu.array({1, 0, 1, 1}, dtype)
    end
    local t = gpu.table(columns)
    local schema, array = structs()
    gpu.to_arrow(t, schema, array)
    local back = gpu.from_arrow(schema, array, {device = gpu.device()})
    assert(schema[0].release == nil and array[0].release == nil)
    assert.are.same(t.names, back.names)
    for _, name in ipairs(t.names) do support.same(t[name]:copy(), back[name]:copy(), name) end
    assert.are.same(t:texts "s", back:texts "s")
    gpu.to_arrow(t:take(t.int8:gt(5)), schema, array)
    assert.are.equal(0, gpu.from_arrow(schema, array).rows)
  end)

  --- A column of another producer's: format, buffers, length, and other fields.
  local kept = {}
  local function column(format, buffers, length, fields)
    local schema, array = structs()
    local list = ffi.new("const void*[?]", #buffers + 1)
    local released = {schema = 0, array = 0}
    for i = 1, #buffers do list[i - 1] = buffers[i] ~= 0 and ffi.cast("const void*", buffers[i]) or nil end
    schema[0].format, schema[0].name = format, "v"
    schema[0].release = ffi.cast("void (*)(struct ArrowSchema*)", function(s)
      s.release = nil
      released.schema = released.schema + 1
    end)
    array[0].release = ffi.cast("void (*)(struct ArrowArray*)", function(a)
      a.release = nil
      released.array = released.array + 1
    end)
    array[0].length, array[0].n_buffers, array[0].buffers = length, #buffers, list
    for name, value in pairs(fields or {}) do array[0][name] = value end
    kept[#kept + 1] = {schema, array, list, buffers, format}
    return schema, array, released
  end
  local function bytes(...) return ffi.new("uint8_t[?]", select("#", ...), ...) end

  local function imported(...)
    local schema, array = column(...)
    return gpu.from_arrow(schema, array)
  end

  it("takes nulls, offsets and text of other programs", function()
    local numbers = ffi.new("int32_t[4]", 7, 8, 9, 10)
    local schema, array, released = column("i", {bytes(0x0b), numbers}, 3, {offset = 1, null_count = -1})
    local t = gpu.from_arrow(schema, array)
    assert.are.same({1, 1}, {released.schema, released.array})
    assert.are.equal("float64", t.v.dtype)
    assert(t.v[1] == 8 and t.v:isnan()[2] and t.v[3] == 10)
    assert.are.same({9, 10}, imported("i", {0, numbers}, 2, {offset = 2}).v:table())
    local floats = imported("f", {bytes(2), ffi.new("float[2]", 1, 2)}, 2, {null_count = 1}).v
    assert(floats.dtype == "float32" and floats:isnan()[1] and floats[2] == 2)
    local flags = imported("b", {0, bytes(0xaa, 1)}, 8, {offset = 1}).v
    assert.are.same({true, false, true, false, true, false, true, true}, flags:table())
    local text = imported("u", {bytes(5), ffi.new("int32_t[4]", 0, 2, 3, 5), ffi.cast("const char*", "no?ab")}, 3, {null_count = 1})
    assert.are.same({"", "ab", "no"}, text:texts "v")
    assert.are.same({3, 1, 2}, text.v:table())
  end)

  it("has dates and durations", function()
    local missing = -2LL ^ 63
    local day = imported("tdD", {bytes(5), ffi.new("int32_t[3]", 19783, 5, -1)}, 3, {null_count = 1}).v
    assert.are.same({"2024-03-01", "NaT", "1969-12-31"}, day:format())
    for format, text in pairs {["tss:UTC"] = "1970-01-01 00:01:30", ["tsm:"] = "1970-01-01 00:00:00.090", ["tsn:"] = "1970-01-01 00:00:00.000000090",
      tdm = "1970-01-01 00:00:00.090", tDs = "00:01:30", tDu = "00:00:00.000090"} do
      local x = imported(format, {bytes(2), ffi.new("int64_t[3]", 1, 90, 2)}, 2, {null_count = 1}).v
      assert.are.same({"NaT", text}, x:format())
    end
    local t = gpu.table {
      days = gpu.dates {"2024-03-01", ""}, times = gpu.dates {"2024-03-01 12:00:00.5", "2024-03-02"}, lasts = gpu.durations {"1d", "90min"},
      spans = gpu.durations {"1d", "2d"},
    }
    local schema, array = structs()
    gpu.to_arrow(t, schema, array)
    local formats = {}
    for i = 0, 3 do formats[ffi.string(schema[0].children[i].name)] = ffi.string(schema[0].children[i].format) end
    assert.are.same({days = "tdD", times = "tsm:", lasts = "tDs", spans = "tDs"}, formats)
    local days = array[0].children[0]
    assert(days.null_count == 1 and ffi.cast("const uint8_t*", days.buffers[0])[0] == 1 and ffi.cast("const int32_t*", days.buffers[1])[0] == 19783)
    assert(array[0].children[1].buffers[0] == nil)
    local back = gpu.from_arrow(schema, array)
    for _, name in ipairs(t.names) do
      assert.are.same(t:column(name):number "s":table()[1], back:column(name):number "s":table()[1])
      assert.are.equal(t:column(name):isnan()[2], back:column(name):isnan()[2])
    end
    local wide = gpu.table {d = gpu.dates(gpu.array({2LL ^ 40, missing}, "int64"), {unit = "days"})}
    support.fails("expected days of 32 bits in column d, got 1099511627776", gpu.to_arrow, wide, structs())
  end)

  it("says what it does not take", function()
    local function fails(text, ...)
      local schema, array, released = column(...)
      support.fails(text, gpu.from_arrow, schema, array)
      assert.are.same({1, 1}, {released.schema, released.array})
    end
    fails('expected numbers, booleans, text or dates in column v, got Arrow\'s type "tts"', "tts", {0, bytes(0)}, 1)
    fails("expected no nulls beside integers beyond 2^53", "l", {bytes(1), ffi.new("int64_t[2]", 2LL ^ 62, 0)}, 2, {null_count = 1})
    fails("expected 2 buffers in column v", "i", {0}, 1)
    fails("expected ascending offsets", "u", {0, ffi.new("int32_t[2]", 5, 2), bytes(0)}, 1)
    -- Numbers and addresses that make no sense.
    local three = {0, ffi.new("int32_t[3]")}
    fails("a number of rows from 0 to 2^53, got -1", "i", three, -1)
    fails("a number of rows to skip from 0 to 2^53, got -9223372036854775808", "i", three, 3, {offset = -2LL ^ 63})
    fails("a number of rows from 0 to 2^53, got 9223372036854775807", "i", three, 9223372036854775807LL)
    fails("a number of buffers from 0 to 2^53, got -2", "i", three, 3, {n_buffers = -2})
    fails("expected buffers, got a null pointer", "i", three, 3, {buffers = ffi.cast("const void**", nil)})
    fails("expected a schema with a format, got none", nil, three, 3)
    fails("a number of children from 0 to 2^53, got -1", "+s", {0}, 3, {n_children = -1})
    local function struct_of(children)
      local schema, array = column("+s", {0}, 3)
      local schemas, arrays = ffi.new("struct ArrowSchema*[1]"), ffi.new("struct ArrowArray*[1]")
      kept[#kept + 1] = {schemas, arrays}
      schema[0].n_children, array[0].n_children = 1, 1
      if children then schema[0].children, array[0].children = schemas, arrays end
      return schema, array, schemas, arrays
    end
    local outer, inner, schemas, arrays = struct_of(false)
    support.fails("expected children, got a null pointer", gpu.from_arrow, outer, inner)
    outer, inner = struct_of(true)
    support.fails("expected child 1, got a null pointer", gpu.from_arrow, outer, inner)
    outer, inner, schemas, arrays = struct_of(true)
    schemas[0], arrays[0] = column("i", three, -3)
    support.fails("a number of rows from 0 to 2^53, got -3", gpu.from_arrow, outer, inner)
    local schema, array = structs()
    support.fails("got one that was released", gpu.from_arrow, schema, array)
    support.fails("the address of a struct ArrowSchema, got nil", gpu.from_arrow)
    support.fails("expected a dtype that Arrow has in column z, got complex64", gpu.to_arrow, {z = gpu.zeros(1, "complex64")}, schema, array)
    assert(schema[0].release == nil)
  end)
end)
