-- Points that fill a cube evenly. A number depends on its position and the seed alone, so the sequences are lazy and fuse.
-- In sandboxes: all
local gpu, _, core, import = ...
local views = import "views"
local checks = import "checks"
local check_source = import("random").check_source
local random = gpu.random

local many_dimensions = 128 -- from here on, fewer points than dimensions are probably the two in the wrong order
local most_dimensions = 1111 -- in sobol_directions.txt

-- Binary digits of a number that is less than 1 in each dtype.
local digits_of = {float16 = 11, bfloat16 = 8, float32 = 24, float64 = 53}

--- Checks the arguments that all sequences have. `more`: how to get more dimensions than `most`.
local function check_points(op, n, d, options, most, more)
  if d == nil then core.raise(("[%s] expected a number of points and one of dimensions, gpu.%s(n, d), got one number"):format(op, op)) end
  checks.integer(op, "a number of points of 0 or more", n)
  if n < 0 then core.fail(op, "a number of points of 0 or more", n) end
  local range = most and ("from 1 to %d dimensions%s"):format(most, more or "") or "at least 1 dimension"
  checks.integer(op, range, d)
  if d < 1 or most and d > most then
    local turned = d > n and n >= 1 and (not most or n <= most)
    core.raise(("[%s] expected %s, got %.0f%s"):format(op, range, d, turned
      and ("; the points come first, gpu.%s(n, d): gpu.%s(%.0f, %.0f) gives %.0f points in %.0f dimensions"):format(op, op, d, n, d, n) or ""))
  end
  core.check_shape(op, {n, d})
  if n > 1 and d > n and d >= many_dimensions then
    core.warn(("[%s] gives %.0f points in %.0f dimensions: the number of points comes first, gpu.%s(%.0f, %.0f)"):format(op, n, d, op, d, n))
  end
  return core.floating_dtype(op, options.dtype or gpu.default_dtype())
end

--- Reads the options of a sequence: whether it is scrambled, the seed as two words, and the number of the first point.
local function check_sequence(op, n, options, most)
  local scramble, seed, skip = checks.flag(op, "scramble", options.scramble) ~= false, options.seed or 0, options.skip or 0
  for name, value in pairs {seed = seed, skip = skip} do
    checks.integer(op, name .. ", an integer of 0 or more", value)
    if value < 0 or value >= 2 ^ 53 then core.fail(op, name .. ", an integer from 0 to 2^53", value) end
  end
  if skip + n > most then
    core.raise(("[%s] expected skip + n of at most %.0f, got %.0f + %.0f"):format(op, most, skip, n))
  end
  return scramble, skip, seed % 2 ^ 32, math.floor(seed / 2 ^ 32)
end

--- The numbers of the points and of the dimensions, counted from 0.
local function places(n, d, skip, device)
  return views.along(n, 1, 2, device, skip), views.along(d, 2, 2, device)
end

-- Well mixed bits of a seed, a dimension and a counter.
local mix = [[
__device__ unsigned int mix(unsigned int x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
__device__ unsigned int word(unsigned int low, unsigned int high, unsigned int dimension, unsigned int counter) {
  return mix(mix(mix(mix(low + 0x632be5abu) ^ high) + dimension * 0x9e3779b9u) + counter);
}
]]

local operations = {}

--- The operation `name` for the dtype, made at its first use.
local function operation(name, dtype, fields)
  local key = name .. dtype
  operations[key] = operations[key] or core.elementwise {
    name = name, inputs = fields.inputs, outputs = dtype .. " y", body = fields.body, preamble = mix .. fields.preamble,
  }
  return operations[key]
end

-- ---- Sobol ---------------------------------------------------------------------------------------------------------------------

local function degree_of(polynomial)
  local degree = 0
  while polynomial >= 2 ^ (degree + 1) do degree = degree + 1 end
  return degree
end

--- Gives, for each dimension from the second on, a polynomial as the binary digits of a number, and as many initial numbers as its
--- degree.
local function known_dimensions()
  local next_word = core.library_text "sobol_directions.txt":gsub("#[^\n]*\n", ""):gmatch "%w+"
  return function()
    local polynomial, initial = tonumber(next_word(), 36), {}
    for place = 1, degree_of(polynomial) do initial[place] = tonumber(next_word(), 36) end
    return polynomial, initial
  end
end

--- The same from the text of a file as Joe and Kuo publish them: a heading, then for each dimension a line of its number, the degree,
--- the polynomial's inner digits as a number, and the initial numbers.
local function dimensions_of(op, path, text)
  local next_line, line, dimension = text:gmatch "[^\r\n]+", 0, 1
  local function check(holds, expected, got)
    if not holds then core.raise(("[%s] expected %s on line %d of %s, got %s"):format(op, expected, line, path, got)) end
  end
  return function(wanted)
    local words = {}
    repeat
      local row = next_line()
      if not row then core.raise(("[%s] expected %d dimensions in %s, got %d"):format(op, wanted, path, dimension)) end
      line = line + 1
      words = {}
      for word in row:gmatch "%S+" do words[#words + 1] = tonumber(word) or word end
    until line > 1 or type(words[1]) == "number"
    dimension = dimension + 1
    local degree, inner = words[2], words[3]
    for k, word in ipairs(words) do
      check(type(word) == "number" and word >= 0 and word % 1 == 0, "whole numbers", words[k])
    end
    check(words[1] == dimension, "dimension " .. dimension, words[1] or "none")
    check(#words > 3 and degree > 0 and degree <= 32 and #words == degree + 3, "a degree and as many initial numbers",
      #words - 3 .. " for the degree " .. tostring(degree))
    check(inner < 2 ^ (degree - 1), "inner digits of a polynomial of degree " .. degree, inner)
    local initial = {unpack(words, 4)}
    for place, number in ipairs(initial) do
      check(number % 2 == 1 and number < 2 ^ place, ("an odd initial number below %d"):format(2 ^ place), number)
    end
    return 2 ^ degree + 2 * inner + 1, initial
  end
end

--- The direction numbers of d dimensions, as an array of `width` rows: those that belong to one binary digit of a point's number.
local function directions(d, width, device, next_dimension)
  local ffi, bit = require "ffi", require "bit"
  local numbers = ffi.new("uint32_t[?]", math.max(d * width, 1))
  local own = {}
  for dimension = 0, d - 1 do
    local polynomial, initial = 1, nil
    if dimension > 0 then polynomial, initial = next_dimension(d) end
    local degree = degree_of(polynomial)
    for place = 0, math.max(width, degree) - 1 do
      local value
      if degree == 0 then
        value = bit.lshift(1, 31 - place)
      elseif place < degree then
        value = bit.lshift(initial[place + 1], 31 - place)
      else
        value = bit.bxor(own[place - degree], bit.rshift(own[place - degree], degree))
        for k = 1, degree - 1 do
          if bit.band(polynomial, bit.lshift(1, degree - k)) ~= 0 then value = bit.bxor(value, own[place - k]) end
        end
      end
      own[place] = value
      if place < width then numbers[place * d + dimension] = value % 2 ^ 32 end
    end
  end
  return gpu.array(numbers, {dtype = "uint32", device = device})
end

-- The exclusive or of the direction numbers for the digits of the point's Gray code. The scrambling is Owen's, by hashes: Burley,
-- "Practical hash-based Owen scrambling", Journal of Computer Graphics Techniques 9, 2020.
local sobol = {
  inputs = "int64 point, int64 dimension, raw uint32 directions, int32 width, int64 dimensions, bool scramble, uint32 low, "
    .. "uint32 high, uint32 shift, float64 half, float64 scale",
  preamble = [[
__device__ unsigned int scrambled(unsigned int x, unsigned int seed) {
  x = __brev(x) + seed;
  x ^= x * 0x6c50b47cu;
  x ^= x * 0xb82f1e52u;
  x ^= x * 0xc7afe638u;
  x ^= x * 0x8d22f6e6u;
  return __brev(x);
}
]],
  body = [[
    const unsigned int gray = (unsigned int)(point ^ point >> 1);
    unsigned int x = 0;
    for (int digit = 0; digit < width; ++digit)
      x ^= directions[digit * dimensions + dimension] & (0u - (gray >> digit & 1u));
    if (scramble) x = scrambled(x, word(low, high, (unsigned int)dimension, 0));
    y = (x >> shift) * scale + half;
  ]],
}

--- gpu.random.sobol(n, d [, {scramble, seed, skip, directions, dtype, device}])
--- n points of a Sobol sequence in d dimensions.
function random.sobol(n, d, options)
  local op = "random.sobol"
  options = checks.fields(op, options)
  local path = options.directions
  local dtype = check_points(op, n, d, options, path == nil and most_dimensions, ", or a file of more as the option directions")
  local next_dimension
  if path == nil then
    next_dimension = known_dimensions()
  elseif type(path) ~= "string" then
    core.fail(op, "directions, the path of a file", path)
  else
    if core.restricted then
      core.raise(("[%s] expected no directions from scripts in a sandbox, which read no files"):format(op))
    end
    local text, message = core.read_text(op, path)
    if not text then return nil, message end
    next_dimension = dimensions_of(op, path, text)
  end
  local scramble, skip, low, high = check_sequence(op, n, options, 2 ^ 32)
  local compute = dtype == "float64" and dtype or "float32"
  -- A scrambled number is the middle of the interval that its digits say: never 0, as that has no logarithm.
  local digits = math.min(digits_of[dtype], 32) - (scramble and 1 or 0)
  local width = 1
  while 2 ^ width < skip + n do width = width + 1 end
  local points, dimensions = places(n, d, skip, options.device)
  local table_of_words = directions(d, width, dimensions.device, next_dimension)
  local numbers = operation("sobol", compute, sobol)(points, dimensions, table_of_words, width, d, scramble, low,
    high, 32 - digits, scramble and 2 ^ -(digits + 1) or 0, 2 ^ -digits)
  return core.cast(numbers, dtype)
end

-- ---- Halton --------------------------------------------------------------------------------------------------------------------

local function primes(count)
  local found, candidate = {}, 2
  while #found < count do
    local is_prime = true
    for _, p in ipairs(found) do
      if p * p > candidate then break end
      if candidate % p == 0 then
        is_prime = false
        break
      end
    end
    if is_prime then found[#found + 1] = candidate end
    candidate = candidate + 1
  end
  return found
end

-- The digits of the point's number, mirrored at the point. A scrambled digit k is a * k + c modulo the base, with a and c from the
-- seed, the dimension and the digit's place.
local halton = {
  inputs = "int64 point, int64 dimension, raw int32 bases, bool scramble, uint32 low, uint32 high, float64 steps",
  preamble = "",
  body = [[
    const long long base = bases[dimension];
    long long rest = point;
    double unit = 1, x = 0;
    for (unsigned int place = 0; scramble ? unit > 0x1p-54 : rest > 0; ++place) {
      unsigned long long digit = (unsigned long long)(rest % base);
      rest /= base;
      unit /= (double)base;
      if (scramble) {
        const unsigned long long factor = 1 + word(low, high, (unsigned int)dimension, 2 * place) % (unsigned int)(base - 1);
        digit = (factor * digit + word(low, high, (unsigned int)dimension, 2 * place + 1)) % (unsigned long long)base;
      }
      x += (double)digit * unit;
    }
    x = floor(x * steps) / steps;
    y = x < 1 ? x : 1 - 1 / steps;
  ]],
}

--- gpu.random.halton(n, d [, {scramble, seed, skip, dtype, device}])
--- n points of a Halton sequence in d dimensions.
function random.halton(n, d, options)
  local op = "random.halton"
  options = checks.fields(op, options)
  local dtype = check_points(op, n, d, options, 10000)
  local scramble, skip, low, high = check_sequence(op, n, options, 2 ^ 53)
  local points, dimensions = places(n, d, skip, options.device)
  local bases = gpu.array(primes(d), {dtype = "int32", device = dimensions.device})
  local compute = dtype == "float64" and dtype or "float32"
  local numbers = operation("halton", compute, halton)(points, dimensions, bases, scramble, low, high, 2 ^ digits_of[dtype])
  return core.cast(numbers, dtype)
end

-- ---- Latin hypercubes ----------------------------------------------------------------------------------------------------------

--- latin_hypercube(n, d [, {generator =, dtype =, device =}]): n random points, one in each of n slices of each dimension.
local function latin_hypercube(generator, n, d, options)
  local op = "random.latin_hypercube"
  options = check_source(op, options, generator)
  local dtype = check_points(op, n, d, options)
  generator = generator or options.generator
  local keys = core.draw_integers(op, {n, d}, 0, 0x7fffffffffffffffLL, "int64", generator, options.device)
  local within = core.draw(op, "random_uniform", {n, d}, "float64", generator, options.device)
  if n == 0 then return core.cast(within, dtype) end
  local steps = 2 ^ digits_of[dtype]
  return core.cast(gpu.floor((keys:argsort(1) - within) * (steps / n)) / steps, dtype)
end
--- gpu.random.latin_hypercube(n, d [, {dtype, device, generator}])
function random.latin_hypercube(...) return latin_hypercube(nil, ...) end
core.generator_methods.latin_hypercube = latin_hypercube
