-- Roots of polynomials on the host: the eigenvalues of companion matrices, by the QR algorithm (G. H. Golub and C. F. Van Loan,
-- "Matrix Computations", 7.5). The errors of all roots together are those of a polynomial whose coefficients differ by rounding
-- errors from the given ones, so those of multiple roots cancel in products. Roots of real polynomials are real, or come in pairs of
-- exact conjugates.
-- In sandboxes: all
local gpu, _, core = ...

local exports = {}

local epsilon = 2 ^ -52
local abs, max, min, sqrt = math.abs, math.max, math.min, math.sqrt

local function size(re, im)
  local most, least = max(abs(re), abs(im)), min(abs(re), abs(im))
  return most == 0 and 0 or most * sqrt(1 + (least / most) ^ 2)
end

local function quotient(ar, ai, br, bi)
  local scale = max(abs(br), abs(bi))
  br, bi = br / scale, bi / scale
  local square = (br * br + bi * bi) * scale
  return (ar * br + ai * bi) / square, (ai * br - ar * bi) / square
end

--- The root with a real part of 0 or more.
local function square_root(re, im)
  local length = size(re, im)
  local root = sqrt((length + abs(re)) / 2)
  if root == 0 then return 0, 0 end
  local other = abs(im) / (2 * root)
  if re < 0 then root, other = other, root end
  return root, im < 0 and -other or other
end

-- ---- matrices ---------------------------------------------------------------------------------------------------------------

--- Coefficients as {re, im, power}, of magnitudes of about 1 times powers of two.
local function split(coefficients)
  local parts = {}
  for i, c in ipairs(coefficients) do
    local _, power = math.frexp(max(abs(c[1]), abs(c[2])))
    parts[i] = {math.ldexp(c[1], -power), math.ldexp(c[2], -power), power}
  end
  return parts
end

--- The corners of the upper convex hull of the powers, by position, without those of coefficients of 0. The slopes between them are
--- the powers of the roots' magnitudes, the greatest first (Newton's polygon).
local function corners_of(parts)
  local corners = {}
  local function slope(a, b) return (parts[b][3] - parts[a][3]) / (b - a) end
  for i, c in ipairs(parts) do
    if c[1] ~= 0 or c[2] ~= 0 then
      while #corners > 1 and slope(corners[#corners - 1], corners[#corners]) <= slope(corners[#corners], i) do
        corners[#corners] = nil
      end
      corners[#corners + 1] = i
    end
  end
  return corners, slope
end

-- Groups of roots whose magnitudes differ by a factor above 2^apart are computed from separate polynomials: what the other group adds
-- to a coefficient is less than its rounding error.
local apart = 80

--- The ranges of the coefficients of these polynomials: {first, last, corners}.
local function ranges_of(parts)
  local corners, slope = corners_of(parts)
  local ranges = {{first = corners[1], corners = {corners[1]}}}
  for i = 2, #corners do
    local range, here = ranges[#ranges], corners[i]
    range.last, range.corners[#range.corners + 1] = here, here
    if i < #corners and slope(corners[i - 1], here) - slope(here, corners[i + 1]) > apart then
      ranges[#ranges + 1] = {first = here, corners = {here}}
    end
  end
  return ranges
end

--- The companion matrix of the polynomial with the coefficients of a range, as its real and its imaginary parts, and a power of two
--- for its eigenvalues. Rows and columns are scaled by powers of two, so that no element is above the magnitude of a root.
local function companion(op, parts, range)
  local n, first = range.last - range.first, parts[range.first]
  local hull = {[0] = 0} -- the powers on the hull
  for i = 2, #range.corners do
    local a, b = range.corners[i - 1], range.corners[i]
    for j = a + 1, b do
      hull[j - range.first] = math.floor(parts[a][3] - first[3] + (parts[b][3] - parts[a][3]) * (j - a) / (b - a) + 0.5)
    end
  end
  local scale = math.floor(hull[n] / n + 0.5)
  local re, im = {}, {}
  for i = 1, n do
    re[i], im[i] = {}, {}
    for j = 1, n do re[i][j], im[i][j] = i == j + 1 and math.ldexp(1, hull[j] - hull[j - 1] - scale) or 0, 0 end
  end
  for j = 1, n do
    local c = parts[range.first + j]
    local x, y = quotient(c[1], c[2], first[1], first[2])
    local power = c[3] - first[3] - hull[j - 1] - scale
    re[1][j], im[1][j] = -math.ldexp(x, power), -math.ldexp(y, power)
    if re[1][j] - re[1][j] ~= 0 or im[1][j] - im[1][j] ~= 0 then
      core.raise(("[%s] expected roots that float64 takes, got coefficients that are too far apart"):format(op))
    end
  end
  return re, im, scale
end

--- Scales rows and columns by powers of two until they have about the same lengths (B. N. Parlett and C. Reinsch, 1969), and then
--- all elements, so that the greatest is about 1. The power of two for the eigenvalues.
local function balance(re, im)
  local n = #re
  repeat
    local done = true
    for i = 1, n do
      local column, row = 0, 0
      for j = 1, n do
        if j ~= i then column, row = column + size(re[j][i], im[j][i]), row + size(re[i][j], im[i][j]) end
      end
      if column > 0 and row > 0 then
        local factor, c, r = 1, column, row
        while c < r / 2 do factor, c, r = factor * 2, c * 2, r / 2 end
        while c >= r * 2 do factor, c, r = factor / 2, c / 2, r * 2 end
        if c + r < 0.95 * (column + row) then
          done = false
          for j = 1, n do re[i][j], im[i][j] = re[i][j] / factor, im[i][j] / factor end
          for j = 1, n do re[j][i], im[j][i] = re[j][i] * factor, im[j][i] * factor end
        end
      end
    end
  until done
  local most = 0
  for i = 1, n do
    for j = 1, n do most = max(most, abs(re[i][j]), abs(im[i][j])) end
  end
  local _, power = math.frexp(most)
  for i = 1, n do
    for j = 1, n do re[i][j], im[i][j] = math.ldexp(re[i][j], -power), math.ldexp(im[i][j], -power) end
  end
  return power
end

--- Whether the element below the diagonal in row k is a rounding error beside those around it, whose magnitudes are given: the
--- test of M. Ahues and F. Tisseur, 1997, which keeps small eigenvalues of graded matrices.
local function is_negligible(below, above, here, before, apart)
  if below == 0 then return true end
  if below > epsilon * (here + before) then return false end
  local most, least = max(below, above), min(below, above)
  local large, small = max(here, apart), min(here, apart)
  return least * (most / (large + most)) <= max(2 ^ -1022, epsilon * (small * (large / (large + most))))
end

--- Finds the eigenvalues of a Hessenberg matrix from its end on. first(last): the first row of the block that ends in row `last`.
--- solve(i, last): notes the eigenvalues of a block of one or two rows; step(i, last, count): a step of the iteration.
local function deflate(op, n, first, most_rows, solve, step)
  local last, count = n, 0
  while last >= 1 do
    local i = first(last)
    if last - i < most_rows then
      solve(i, last)
      last, count = i - 1, 0
    else
      count = count + 1
      if count > 300 then core.raise(("[%s] expected the iteration to converge within 300 steps"):format(op)) end
      step(i, last, count)
    end
  end
end

-- ---- real matrices ----------------------------------------------------------------------------------------------------------

--- The eigenvalues of the matrix {{a, b}, {c, d}}, as two complex numbers.
local function pair_of(a, b, c, d)
  local half = (a - d) / 2
  local most, least = max(abs(b), abs(c)), min(abs(b), abs(c)) * (b < 0 and -1 or 1) * (c < 0 and -1 or 1)
  local scale = max(abs(half), most)
  if scale == 0 then return a, 0, d, 0 end
  local square = half / scale * half + most / scale * least
  if square >= 0 then
    local z = half + (half < 0 and -1 or 1) * sqrt(scale) * sqrt(square)
    if z == 0 then return a, 0, d, 0 end
    return d + z, 0, d - most / z * least, 0
  end
  local middle, away = (a + d) / 2, sqrt(scale) * sqrt(-square)
  return middle, away, middle, -away
end

--- Applies the reflection that makes (x, y, z) a multiple of (1, 0, 0) to the rows k to k + 2, and to the columns; without z to two.
local function reflect(h, k, first, last, x, y, z)
  local scale = abs(x) + abs(y) + abs(z or 0)
  if scale == 0 then return end
  x, y = x / scale, y / scale
  local w = z and z / scale or 0
  local length = sqrt(x * x + y * y + w * w)
  if x > 0 then length = -length end
  -- The vector (1, v, w), and the factor of its product with itself.
  local head = x - length
  local factor, v = -head / length, y / head
  w = w / head
  local one, two, three = h[k], h[k + 1], z and h[k + 2]
  for j = max(k - 1, first), last do
    local part = factor * (one[j] + v * two[j] + (three and w * three[j] or 0))
    one[j], two[j] = one[j] - part, two[j] - v * part
    if three then three[j] = three[j] - w * part end
  end
  for i = first, min(k + 3, last) do
    local row = h[i]
    local part = factor * (row[k] + v * row[k + 1] + (three and w * row[k + 2] or 0))
    row[k], row[k + 1] = row[k] - part, row[k + 1] - v * part
    if three then row[k + 2] = row[k + 2] - w * part end
  end
end

--- The eigenvalues of a real Hessenberg matrix, by Francis' steps with two shifts at once.
local function real_eigenvalues(op, h)
  local re, im = {}, {}
  deflate(op, #h, function(last)
    for k = last, 2, -1 do
      local here, before = h[k][k], h[k - 1][k - 1]
      if is_negligible(abs(h[k][k - 1]), abs(h[k - 1][k]), abs(here), abs(before), abs(before - here)) then
        h[k][k - 1] = 0
        return k
      end
    end
    return 1
  end, 2, function(i, last)
    if i == last then
      re[#re + 1], im[#im + 1] = h[i][i], 0
    else
      local a, b, c, d = pair_of(h[i][i], h[i][last], h[last][i], h[last][last])
      re[#re + 1], im[#im + 1] = a, b
      re[#re + 1], im[#im + 1] = c, d
    end
  end, function(i, last, count)
    local a, b, c, d = h[last - 1][last - 1], h[last - 1][last], h[last][last - 1], h[last][last]
    if count % 10 == 0 then -- other shifts leave a cycle
      local away = abs(h[last][last - 1]) + abs(h[last - 1][last - 2])
      a, b, c, d = 0.75 * away + d, -0.4375 * away, away, 0.75 * away + d
    end
    local trace, determinant = a + d, a * d - b * c
    local top, below = h[i], h[i + 1]
    local x = (top[i] * top[i] - trace * top[i] + determinant) / below[i] + top[i + 1]
    local y, z = top[i] + below[i + 1] - trace, h[i + 2][i + 1]
    for k = i, last - 2 do
      reflect(h, k, i, last, x, y, z)
      if k > i then h[k + 1][k - 1], h[k + 2][k - 1] = 0, 0 end
      x, y, z = h[k + 1][k], h[k + 2][k], k + 3 <= last and h[k + 3][k] or nil
    end
    reflect(h, last - 1, i, last, x, y)
    h[last][last - 2] = 0
  end)
  return re, im
end

-- ---- complex matrices -------------------------------------------------------------------------------------------------------

--- The eigenvalue of the last two rows that is nearest to the last element.
local function nearest_eigenvalue(re, im, last)
  local k = last - 1
  local pr, pi = (re[k][k] - re[last][last]) / 2, (im[k][k] - im[last][last]) / 2
  local br, bi, cr, ci = re[k][last], im[k][last], re[last][k], im[last][k]
  local qr, qi = br * cr - bi * ci, br * ci + bi * cr
  local sr, si = square_root(pr * pr - pi * pi + qr, 2 * pr * pi + qi)
  if pr * sr + pi * si < 0 then sr, si = -sr, -si end
  if pr + sr == 0 and pi + si == 0 then return re[last][last], im[last][last] end
  local dr, di = quotient(qr, qi, pr + sr, pi + si)
  return re[last][last] - dr, im[last][last] - di
end

--- Turns the complex numbers a[i] and b[j]: a gets c a + s b, and b gets c b - s' a.
local function turn(are, aim, i, bre, bim, j, c, sr, si)
  local ar, ai, br, bi = are[i], aim[i], bre[j], bim[j]
  are[i], aim[i] = c * ar + sr * br - si * bi, c * ai + sr * bi + si * br
  bre[j], bim[j] = c * br - sr * ar - si * ai, c * bi - sr * ai + si * ar
end

--- The eigenvalues of a complex Hessenberg matrix, by steps with one shift.
local function complex_eigenvalues(op, re, im)
  local values, imaginary = {}, {}
  local turns = {}
  deflate(op, #re, function(last)
    for k = last, 2, -1 do
      local apart = size(re[k - 1][k - 1] - re[k][k], im[k - 1][k - 1] - im[k][k])
      if is_negligible(size(re[k][k - 1], im[k][k - 1]), size(re[k - 1][k], im[k - 1][k]), size(re[k][k], im[k][k]),
          size(re[k - 1][k - 1], im[k - 1][k - 1]), apart) then
        re[k][k - 1], im[k][k - 1] = 0, 0
        return k
      end
    end
    return 1
  end, 1, function(i)
    values[#values + 1], imaginary[#imaginary + 1] = re[i][i], im[i][i]
  end, function(i, last, count)
    local sr, si = nearest_eigenvalue(re, im, last)
    if count % 10 == 0 then sr = re[last][last] + size(re[last][last - 1], im[last][last - 1]) end
    for k = i, last do re[k][k], im[k][k] = re[k][k] - sr, im[k][k] - si end
    for k = i, last - 1 do
      local ar, ai, br, bi = re[k][k], im[k][k], re[k + 1][k], im[k + 1][k]
      local a, b = size(ar, ai), size(br, bi)
      local length = size(a, b)
      -- c a + s b has the direction of a, c b - s' a is 0.
      local c, tr, ti = 0, 1, 0
      if length > 0 and a > 0 then
        local ur, ui = ar / a, ai / a
        c, tr, ti = a / length, (ur * br + ui * bi) / length, (ui * br - ur * bi) / length
      end
      turns[k] = {c, tr, ti}
      for j = k, last do turn(re[k], im[k], j, re[k + 1], im[k + 1], j, c, tr, ti) end
    end
    for k = i, last - 1 do
      local c, tr, ti = unpack(turns[k])
      for j = i, k + 1 do turn(re[j], im[j], k, re[j], im[j], k + 1, c, tr, -ti) end
    end
    for k = i, last do re[k][k], im[k][k] = re[k][k] + sr, im[k][k] + si end
  end)
  return values, imaginary
end

-- ---- roots ------------------------------------------------------------------------------------------------------------------

--- The roots of the polynomial with these coefficients, a list of {re, im}, the highest power's first: their real and their
--- imaginary parts.
function exports.roots_of(op, coefficients)
  local first, last = 1, #coefficients
  local function is_zero(c) return c[1] == 0 and c[2] == 0 end
  while first <= last and is_zero(coefficients[first]) do first = first + 1 end
  local zeros = 0
  while last > first and is_zero(coefficients[last]) do last, zeros = last - 1, zeros + 1 end
  local re, im = {}, {}
  if last > first then
    local is_real = true
    for i = first, last do is_real = is_real and coefficients[i][2] == 0 end
    local parts = split {unpack(coefficients, first, last)}
    for _, range in ipairs(ranges_of(parts)) do
      local a, b, scale = companion(op, parts, range)
      scale = scale + balance(a, b)
      local x, y
      if is_real then x, y = real_eigenvalues(op, a) else x, y = complex_eigenvalues(op, a, b) end
      for i = 1, #x do
        re[#re + 1], im[#im + 1] = math.ldexp(x[i], scale), math.ldexp(y[i], scale)
        if abs(re[#re]) == math.huge or abs(im[#im]) == math.huge then
          core.raise(("[%s] expected roots that float64 takes, got one of about 2^%d"):format(op, scale))
        end
      end
    end
  end
  for _ = 1, zeros do re[#re + 1], im[#im + 1] = 0, 0 end
  return re, im
end

--- gpu.roots(coefficients)
--- The complex numbers at which the polynomial is 0. Waits for an array.
function gpu.roots(coefficients)
  local op = "roots"
  local device
  local list = {}
  if core.is_array(coefficients) then
    if coefficients.ndim ~= 1 then core.fail(op, "a vector of coefficients", coefficients) end
    device, coefficients = coefficients.device, core.cast(coefficients, "complex128")
    local re, im = coefficients:real():table(), coefficients:imag():table()
    for i = 1, #re do list[i] = {re[i], im[i]} end
  else
    if type(coefficients) ~= "table" then core.fail(op, "coefficients: a table of numbers, or a vector", coefficients) end
    core.check_list(op, "numbers", coefficients)
    for i, value in ipairs(coefficients) do
      if core.is_weak(value) then value = value:item() end
      local is_complex = type(value) == "cdata" and pcall(function() return value.re end)
      if type(value) ~= "number" and not is_complex then core.fail(op, "numbers as coefficients", value) end
      list[i] = is_complex and {value.re, value.im} or {value, 0}
    end
  end
  for _, c in ipairs(list) do
    if not (c[1] - c[1] == 0 and c[2] - c[2] == 0) then core.fail(op, "finite coefficients", c[1]) end
  end
  local re, im = exports.roots_of(op, list)
  local place = {dtype = "float64", device = device}
  if #re == 0 then return gpu.zeros(0, {dtype = "complex128", device = device}) end
  return gpu.array(re, place) + gpu.array(im, place) * gpu.complex(0, 1)
end

return exports
