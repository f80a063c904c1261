-- Fourier transforms by our own kernels (kernels/fft.cuh), without scaling. A length that fits into a block's shared memory is one
-- launch. A longer one is divided in two (D. H. Bailey's four steps, 1990): columns, a multiplication by twiddle factors in the
-- same launch, then rows. A length with a prime factor above 13 is a convolution (L. Bluestein, 1970).
local gpu, methods, core, import = ...
local kept = import "fft_plans"
local fft_plans, next_fast_len = kept.plans, kept.next_fast_len
local views = import "views"

local floor = math.floor

local own = {}

local function parts_of(dtype) return dtype == "complex128" and "float64" or "float32" end
local function part_bytes(dtype) return dtype == "complex128" and 8 or 4 end

-- ---- plans ------------------------------------------------------------------------------------------------------------------

--- The factors of n in the order of the passes; nil where a prime above 13 remains.
local function factors_of(n)
  local list = {}
  for _, factor in ipairs {13, 11, 7, 5, 3, 8, 4, 2} do
    while n % factor == 0 do
      list[#list + 1] = factor
      n = n / factor
    end
  end
  return n == 1 and list or nil
end

--- The cosine and sine of 2 pi e / n, 0 <= e < n, with an angle below a quarter turn.
local function turn(e, n)
  local quarter = floor(4 * e / n)
  local rest = 4 * e - quarter * n
  local c, s
  if 2 * rest > n then
    c, s = math.sin((n - rest) / n * math.pi / 2), math.cos((n - rest) / n * math.pi / 2)
  else
    c, s = math.cos(rest / n * math.pi / 2), math.sin(rest / n * math.pi / 2)
  end
  if quarter == 0 then return c, s end
  if quarter == 1 then return -s, c end
  if quarter == 2 then return -c, -s end
  return s, -c
end

--- An array of exp(-2 pi i k step / n) for k < count, as pairs of real numbers.
local function roots_array(count, step, n, dtype, device)
  local values = {}
  for k = 0, count - 1 do
    local c, s = turn(k * step % n, n)
    values[2 * k + 1], values[2 * k + 2] = c, -s
  end
  return gpu.array(values, {dtype = parts_of(dtype), device = device})
end

--- Two tables whose products are all roots of unity of order n.
local function roots_of_unity(n, dtype, device)
  local bits = 1
  while 4 ^ bits < n do bits = bits + 1 end
  local size = 2 ^ bits
  return {bits = bits, fine = roots_array(math.min(size, n), 1, n, dtype, device),
    coarse = roots_array(math.ceil(n / size), size, n, dtype, device)}
end

--- Where each element goes before the first pass: its digits in the factors, reversed. The last of the n + 1 places is n.
local function places_of(n, factors, device)
  local places = {}
  for i = 0, n - 1 do
    local rest, size, place = i, n, 0
    for pass = #factors, 1, -1 do
      local factor = factors[pass]
      size = size / factor
      place = place + rest % factor * size
      rest = floor(rest / factor)
    end
    places[i + 1] = place
  end
  places[n + 1] = n
  return gpu.array(places, {dtype = "int32", device = device})
end

local function block_plan(n, dtype, device, factors)
  local packed = 0
  for pass = #factors, 1, -1 do packed = packed * 16 + factors[pass] end
  return {factors = packed, roots = roots_array(n, 1, n, dtype, device), places = places_of(n, factors, device)}
end

--- The divisor of n, at most `most`, that splits n into factors of similar size.
local function divisor(n, most)
  local levels = math.max(2, math.ceil(math.log(n) / math.log(most) - 1e-9))
  local wanted, best = n ^ (1 / levels), nil
  for d = 2, most do
    if n % d == 0 and (not best or math.abs(math.log(d / wanted)) < math.abs(math.log(best / wanted))) then best = d end
  end
  return best
end

--- The plan for a kind of transform of length n, from the cache.
local function plan_for(kind, n, like, dtype, make)
  return fft_plans:get(("%s %d %s %s"):format(kind, n, dtype, like.device), function()
    return make(n, dtype, like.device)
  end)
end

--- The longest transform of one launch, the rows of a block, 0 for any number, and the bytes of them.
local function longest(like, dtype)
  local bytes, width = core.fft_block(like)
  return floor(bytes / (2 * part_bytes(dtype) * math.max(width, 1))), width, bytes
end

-- ---- launches ---------------------------------------------------------------------------------------------------------------

--- Axes of rows, {extent, in, out} each: those of extent 1 left out, neighbours joined where their distances allow it.
local function joined(axes)
  local result = {}
  for _, axis in ipairs(axes) do
    local before = result[#result]
    if before and before[2] == axis[2] * axis[1] and before[3] == axis[3] * axis[1] then
      result[#result] = {before[1] * axis[1], axis[2], axis[3]}
    elseif axis[1] ~= 1 then
      result[#result + 1] = axis
    end
  end
  return result
end

--- Takes the axis along which a block has its rows out of the list: neighbours in memory where there are some.
local function take_lanes(axes)
  local best, score = 0, 0
  for i, axis in ipairs(axes) do
    local of_axis = math.min(axis[1], 32) * (1 + (axis[2] == 1 and 1 or 0) + (axis[3] == 1 and 1 or 0))
    if of_axis > score then best, score = i, of_axis end
  end
  return best > 0 and table.remove(axes, best) or {1, 0, 0}
end

--- The numbers that describe a launch with passes over n elements.
local function numbers_of(t, plan, n, in_step, out_step, axes, lanes)
  local _, width, bytes = longest(t.out, t.dtype)
  local outer = joined(axes)
  lanes = lanes or take_lanes(outer)
  if width == 0 then
    width = 1
    while width < 32 and width < lanes[1] and 4 * width * n * part_bytes(t.dtype) <= bytes do width = 2 * width end
  end
  local numbers = {plan.factors, n, width, t.inverse and 1 or 0, in_step, out_step, unpack(lanes)}
  for i = 1, 3 do
    for _, number in ipairs(outer[i] or {1, 0, 0}) do numbers[#numbers + 1] = number end
  end
  return numbers
end

local function plan_of_block(t, n)
  return plan_for("block", n, t.out, t.dtype, function(_, dtype, device) return block_plan(n, dtype, device, factors_of(n)) end)
end

-- FftMode in C++
local plain, twiddled, real, to_real = 0, 1, 2, 3

--- Queues transforms of length n in one launch. `roots`: what the mode needs. `lanes`: the axis along which a block has its rows.
local function launch(t, n, in_step, out_step, axes, mode, roots, lanes)
  local plan = plan_of_block(t, n)
  core.transform_rows(t.from, t.out, plan.roots, numbers_of(t, plan, n, in_step, out_step, axes, lanes), plan.places, mode,
    roots and roots.coarse, roots and roots.fine, roots and roots.bits or 0)
end

local function count_of(axes)
  local count = 1
  for _, axis in ipairs(axes) do count = count * axis[1] end
  return count
end

--- True when transforms of length n along the axes are one launch. A few long rows would leave most lanes without work.
local function is_one_launch(t, n, axes) return n <= longest(t.out, t.dtype) and (n < 512 or count_of(axes) >= 8) end

--- Queues transforms of length n, a product of factors up to 13, of rows along the axes from t.from to t.out.
local function run(t, n, in_step, out_step, axes)
  if is_one_launch(t, n, axes) then return launch(t, n, in_step, out_step, axes, plain) end
  local most = math.min(longest(t.out, t.dtype), math.ceil(n / 2))
  local columns = plan_for("columns", n, t.out, t.dtype, function(_, dtype, device)
    local first = divisor(n, most)
    return {first = first, twiddle = roots_of_unity(n, dtype, device)}
  end)
  local first = columns.first
  local second = n / first
  -- Rows whose starts are a power of 2 apart compete for the same lines of a core's cache.
  local row = second % 64 == 0 and second + 16 or second
  local count, to_middle, from_middle = 1, {}, {{first, row, out_step}}
  for i = #axes, 1, -1 do
    local extent, inward, outward = unpack(axes[i])
    local distance = count * first * row
    table.insert(to_middle, 1, {extent, inward, distance})
    table.insert(from_middle, 1, {extent, distance, outward})
    count = count * extent
  end
  local middle = gpu.empty({count, first, row}, {dtype = t.dtype, device = t.out.device})
  launch({from = t.from, out = middle, dtype = t.dtype, inverse = t.inverse}, first, in_step * second, row, to_middle, twiddled,
    columns.twiddle, {second, in_step, 1})
  run({from = middle, out = t.out, dtype = t.dtype, inverse = t.inverse}, second, 1, out_step * first, from_middle)
  middle:free()
end

--- The axes of x and y but one: {extent, in, out} each, with distances in elements of x_bytes and y_bytes.
local function rows_of(x, y, axis, x_bytes, y_bytes)
  local axes = {}
  for i, extent in ipairs(x.shape) do
    if i ~= axis then axes[#axes + 1] = {extent, x.strides[i] / x_bytes, y.strides[i] / (y_bytes or x_bytes)} end
  end
  return joined(axes)
end
own.rows_of = rows_of

-- ---- lengths with large factors ---------------------------------------------------------------------------------------------

--- exp(-pi i k^2 / n), and the transform of its conjugate, which wraps around after `length` elements, divided by `length`.
local function chirp_plan(n, dtype, device)
  local length = next_fast_len(2 * n - 1)
  local k = core.positions({n}, 0, 1, "int64", {device = device})
  local angle = core.cast(k * k % (2 * n), "float64") * (-math.pi / n)
  local chirp = core.cast(angle:cos() + angle:sin() * gpu.complex(0, 1), dtype):eval()
  local wrapped = gpu.zeros({length}, {dtype = dtype, device = device})
  wrapped({1, n}):copy_(chirp:conj())
  if n > 1 then wrapped({length - n + 2, length}):copy_(chirp({2, n}):flip():conj()) end
  local transformed = own.complex(wrapped, 1, false)
  wrapped:free()
  local spectrum = (transformed * (1 / length)):eval()
  transformed:free()
  return {length = length, chirp = chirp, spectrum = spectrum}
end

--- The same, with the elements of the spectrum where the passes of a transform put them.
local function placed_chirp_plan(n, dtype, device)
  local plan = chirp_plan(n, dtype, device)
  local placed = gpu.empty_like(plan.spectrum)
  local places = plan_of_block({out = placed, dtype = dtype}, plan.length).places
  placed:put(core.cast(places({1, plan.length}), "int64") + 1, plan.spectrum)
  plan.spectrum:free()
  plan.spectrum = placed
  return plan
end

--- Queues the transforms of any length, in one launch.
local function launch_chirp(t, n, in_step, out_step, axes)
  local plan = plan_for("placed-chirp", n, t.out, t.dtype, placed_chirp_plan)
  local block = plan_of_block(t, plan.length)
  core.transform_rows_by_chirp(t.from, t.out, block.roots, numbers_of(t, block, plan.length, in_step, out_step, axes), plan.chirp,
    plan.spectrum, n)
end

--- The transforms along the last axis of x, by convolutions that are array expressions.
local function convolved(x, inverse)
  local shape = x.shape
  local n = shape[#shape]
  local plan = plan_for("chirp", n, x, x.dtype, chirp_plan)
  local function turned(y) return inverse and y:conj() or y end
  shape[#shape] = plan.length
  local padded = gpu.zeros(shape, {dtype = x.dtype, device = x.device})
  views.slice(padded, #shape, 1, n):copy_(turned(x) * plan.chirp)
  local transformed = own.complex(padded, #shape, false)
  padded:free()
  local product = (transformed * plan.spectrum):eval()
  transformed:free()
  local back = own.complex(product, #shape, true)
  product:free()
  return turned(views.slice(back, #shape, 1, n) * plan.chirp)
end

-- ---- transforms of arrays ---------------------------------------------------------------------------------------------------

--- Queues transforms of any length n of rows along the axes; false where that takes array expressions.
local function queue(t, n, in_step, out_step, axes)
  if factors_of(n) then
    run(t, n, in_step, out_step, axes)
  elseif is_one_launch(t, next_fast_len(2 * n - 1), axes) then
    launch_chirp(t, n, in_step, out_step, axes)
  else
    return false
  end
  return true
end

--- The transforms of a complex array along the axis, multiplied by nothing. The array is not empty.
function own.complex(x, axis, inverse)
  local n = x.shape[axis]
  local out = gpu.empty(x.shape, {dtype = x.dtype, device = x.device})
  local bytes = 2 * part_bytes(x.dtype)
  x:eval()
  local rows = rows_of(x, out, axis, bytes)
  if #rows > 2 then
    x = x:copy()
    rows = rows_of(x, out, axis, bytes)
  end
  local t = {from = x, out = out, dtype = x.dtype, inverse = inverse}
  if queue(t, n, x.strides[axis] / bytes, out.strides[axis] / bytes, rows) then return out end
  return convolved(x:moveaxis(axis, -1), inverse):moveaxis(-1, axis)
end

local function halves_plan(n, dtype, device) return roots_of_unity(2 * n, dtype, device) end

--- The array with the axis last, row-major; an empty one of its shape, but with `extent` elements in a row; the number of rows.
local function as_rows(x, axis, extent, dtype)
  x = x:moveaxis(axis, -1):contiguous()
  local shape = x.shape
  local count = x.size / shape[#shape]
  shape[#shape] = extent
  return x, gpu.empty(shape, {dtype = dtype, device = x.device}), count
end

local function from_rows(out, axis) return axis == out.ndim and out or out:moveaxis(-1, axis):contiguous() end

--- Elements 0 to n / 2 of the transforms of a real array along the axis.
function own.real(x, axis)
  local n, out, count = x.shape[axis]
  local dtype = x.dtype == "float64" and "complex128" or "complex64"
  local h = n / 2
  if n % 2 == 1 then return views.slice(own.complex(core.cast(x, dtype), axis, false), axis, 1, (n + 1) / 2) end
  x, out, count = as_rows(x, axis, h + 1, dtype)
  local roots = plan_for("halves", h, x, dtype, halves_plan)
  local t, rows = {from = x, out = out, dtype = dtype}, {{count, h, h + 1}}
  if factors_of(h) and is_one_launch(t, h, rows) then
    launch(t, h, 1, 1, rows, real, roots)
    return from_rows(out, axis)
  end
  t.out = gpu.empty({count, h}, {dtype = dtype, device = x.device})
  if not queue(t, h, 1, 1, {{count, h, h}}) then
    local parts = x:reshape(count, h, 2)
    t.out = convolved(parts(":", ":", 1) + parts(":", ":", 2) * gpu.complex(0, 1), false):contiguous():eval()
  end
  core.join_halves(t.out, out, roots.coarse, roots.fine, roots.bits, h, count, false)
  t.out:free()
  return from_rows(out, axis)
end

--- The real array of length n, odd, whose transforms have x.
local function to_odd(x, axis, n)
  local first = views.slice(x, axis, 1, 1)
  local parts = {first:real() * gpu.complex(1, 0)}
  if n > 1 then
    local others = views.slice(x, axis, 2, (n - 1) / 2)
    parts[2], parts[3] = others, others:flip(axis):conj()
  end
  return own.complex(core.cast(gpu.concat(parts, axis), x.dtype), axis, true):real()
end

--- The real array of length n along the axis whose transforms have x, elements 0 to n / 2, multiplied by n.
function own.to_real(x, axis, n)
  if n % 2 == 1 then return to_odd(x, axis, n) end
  local h, dtype, out, count = n / 2, x.dtype
  x, out, count = as_rows(x, axis, n, parts_of(dtype))
  local roots = plan_for("halves", h, x, dtype, halves_plan)
  local t, rows = {from = x, out = out, dtype = dtype, inverse = true}, {{count, h + 1, h}}
  if factors_of(h) and is_one_launch(t, h, rows) then
    launch(t, h, 1, 1, rows, to_real, roots)
    return from_rows(out, axis)
  end
  t.from = gpu.empty({count, h}, {dtype = dtype, device = x.device})
  core.join_halves(x, t.from, roots.coarse, roots.fine, roots.bits, h, count, true)
  if not queue(t, h, 1, 1, {{count, h, h}}) then
    local values = convolved(t.from, true)
    out = gpu.stack({values:real(), values:imag()}, 3):reshape(out.shape)
  end
  t.from:free()
  return from_rows(out, axis)
end

return own
