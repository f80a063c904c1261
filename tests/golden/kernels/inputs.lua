-- The numbers that cases run on: special values first, then random ones from a fixed generator, the same on every machine.
local ffi = require "ffi"
local bit = require "bit"

local inputs = {}

-- Marsaglia's xorshift with 32 bits.
local function generator(seed)
  local state = bit.tobit(seed * 2654435 + 88675123)
  return function()
    state = bit.bxor(state, bit.lshift(state, 13))
    state = bit.bxor(state, bit.rshift(state, 17))
    state = bit.bxor(state, bit.lshift(state, 5))
    return state % 2 ^ 32
  end
end

local inf, nan = math.huge, 0 / 0
local float_specials = {
  0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1.5, 2.5, -2.5, 3, 10, 100.25, inf, -inf, nan,
  2 ^ -149, -2 ^ -149, 2 ^ -140 * 1.25, 2 ^ -126, -2 ^ -126, 1e-30, 1e-7, -1e-7, 1 + 2 ^ -23, 1 - 2 ^ -24,
  (2 - 2 ^ -23) * 2 ^ 127, -(2 - 2 ^ -23) * 2 ^ 127, 1e30, -1e30, 16777217, 2147483648, -2147483904, 4294967296, 9.3e18,
  1.8446744e19, 3.1415927, -1.5707964, 88.7, -103.9, 0.99999, 127.5, 1e5 + 0.5,
}
local double_specials = {
  2 ^ -1074, -2 ^ -1074, 2 ^ -1022, 1e-310, 1e-300, (2 - 2 ^ -52) * 2 ^ 1023, -(2 - 2 ^ -52) * 2 ^ 1023, 1e300,
  1 + 2 ^ -52, 1 - 2 ^ -53, 9007199254740993, 709.7, -745.1, 2147483647.5, -2147483648.5, 9.3e18, 1.9e19,
}
local half_bits = {
  0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x4000, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c01, 0x3bff,
  0x4248, 0x5640, 0x3555, 0x7f80, 0xff80, 0x7fc0, 0x3f80, 0xbf80, 0x4049, 0x7f7f, 0x0080, 0x4b80,
}
local integer_specials = {
  0, 1, 2, 3, 7, 31, 32, 255, 256, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000001,
  0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x01010101, 0x80008000, 0x7fff7fff,
}

--- One number from `lowest` to `highest`, evenly.
local function between(random, lowest, highest) return lowest + (highest - lowest) * (random() / 2 ^ 32) end

-- For a type's name: how many specials it has, and fillers of an element by a special's number and by chance.
local makers = {}

local function floating(specials)
  return {
    specials = #specials,
    special = function(view, i, k) view[i] = specials[k] end,
    random = function(view, i, random, range)
      if range then
        view[i] = between(random, range[1], range[2])
      else
        view[i] = between(random, -1, 1) * 2 ^ between(random, -20, 20)
      end
    end,
  }
end
makers.float = floating(float_specials)
do
  local all = {}
  for _, x in ipairs(float_specials) do all[#all + 1] = x end
  for _, x in ipairs(double_specials) do all[#all + 1] = x end
  makers.double = floating(all)
end
makers.half = {
  specials = #half_bits,
  special = function(view, i, k) view[i] = half_bits[k] end,
  random = function(view, i, random) view[i] = random() % 65536 end,
}
makers.bfloat16 = makers.half
makers.int = {
  specials = #integer_specials,
  special = function(view, i, k) view[i] = ffi.cast("int32_t", ffi.cast("uint32_t", integer_specials[k])) end,
  random = function(view, i, random, range)
    view[i] = range and math.floor(between(random, range[1], range[2] + 1)) or bit.tobit(random())
  end,
}
makers.uint = {
  specials = #integer_specials,
  special = function(view, i, k) view[i] = integer_specials[k] end,
  random = function(view, i, random, range)
    view[i] = range and math.floor(between(random, range[1], range[2] + 1)) or random()
  end,
}
local function wide(ctype)
  return {
    specials = 2 * #integer_specials,
    special = function(view, i, k)
      local low = ffi.cast("uint64_t", integer_specials[(k - 1) % #integer_specials + 1])
      view[i] = ffi.cast(ctype, k <= #integer_specials and low or low * 0x100000000ULL + 0x80000001ULL)
    end,
    random = function(view, i, random)
      local bits = ffi.cast("uint64_t", random()) * 0x100000000ULL + ffi.cast("uint64_t", random())
      view[i] = ffi.cast(ctype, bit.rshift(bits, random() % 64))
    end,
  }
end
makers.ll = wide "int64_t"
makers.ull = wide "uint64_t"

--- `count` numbers of each type as FFI arrays: all combinations of specials as far as a half of the count holds them, spread
--- evenly over them, then random ones, within `range` where that is given.
function inputs.make(types, ctypes, count, range, seed)
  local random, views, combinations = generator(seed), {}, 1
  for k, type in ipairs(types) do
    views[k] = ffi.new(ctypes[k] .. "[?]", count)
    combinations = combinations * makers[type].specials
  end
  local special = math.min(combinations, count / 2)
  for i = 0, count - 1 do
    local place = math.floor(i * (combinations / special))
    for k, type in ipairs(types) do
      local maker = makers[type]
      if i < special then
        maker.special(views[k], i, place % maker.specials + 1)
        place = math.floor(place / maker.specials)
      else
        maker.random(views[k], i, random, range)
      end
    end
  end
  return views
end

return inputs
