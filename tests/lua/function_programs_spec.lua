-- Programs as users write them, as kernels of gpu.jit. LuaJIT runs the same text (function_simulator.lua), and the numbers are the
-- same bit by bit: float64 without fused products and sums.
local gpu = require "gpu"
local simulator = require "function_simulator"

local function series(n, f)
  local values = {}
  for i = 1, n do values[i] = f(i) end
  return values
end
local function noise(i) return (i * 0.6180339887498949) % 1 end
local function matrix(rows, columns, f)
  return series(rows, function(i) return series(columns, function(j) return f(noise((i - 1) * columns + j)) end) end)
end
local function same(x) return x end
local zeros
function zeros(rows, columns)
  return series(rows, function() return columns and zeros(columns) or 0 end)
end

local function letter(x) return math.floor(x * 4) end

-- The text is a kernel. An argument is a table, the elements of an array of `dtype`, or a number.
local programs = {
  {"sums by halves in shared memory", {grid = 4, block = 64}, "float64", {series(250, noise), zeros(4)}, [[
    local x, out = ...
    local s = gpu.shared(64, "float64")
    local t, i = gpu.thread(), gpu.grid()
    s[t] = i <= #x and x[i] or 0
    gpu.barrier()
    local half = math.floor(gpu.block_size() / 2)
    while half > 0 do
      if t <= half then s[t] = s[t] + s[t + half] end
      gpu.barrier()
      half = math.floor(half / 2)
    end
    if t == 1 then out[gpu.block_index()] = s[1] end]]},
  {"a running sum with two buffers", {grid = 1, block = 64}, "int32", {series(64, same)}, [[
    local x = ...
    local s = gpu.shared(2, 64, "int32")
    local t, from, to, d = gpu.thread(), 1, 2, 1
    s[from][t] = x[t]
    gpu.barrier()
    while d < 64 do
      s[to][t] = t > d and s[from][t] + s[from][t - d] or s[from][t]
      from, to, d = to, from, d * 2
      gpu.barrier()
    end
    x[t] = s[from][t] ]]},
  {"a histogram in shared counters", {grid = 3, block = 32}, "int32", {series(200, function(i) return i * i % 17 end), zeros(17)},
    [[
    local x, bins = ...
    local own = gpu.shared(17, "int32")
    local t = gpu.thread()
    if t <= 17 then own[t] = 0 end
    gpu.barrier()
    for i = gpu.grid(), #x, gpu.grid_size() do gpu.atomic.add(own, x[i] + 1, 1) end
    gpu.barrier()
    if t <= 17 then gpu.atomic.add(bins, t, own[t]) end]]},
  {"a product of matrices in tiles", {grid = {3, 2}, block = {4, 4}}, "float64",
    {matrix(7, 9, same), matrix(9, 10, same), zeros(7, 10)}, [[
    local a, b, c = ...
    local ta, tb = gpu.shared(4, 4, "float64"), gpu.shared(4, 4, "float64")
    local column, row = gpu.grid(2)
    local tx, ty = gpu.thread(2)
    local sum = 0
    for tile = 0, math.ceil(a.shape[2] / 4) - 1 do
      local k = tile * 4
      ta[ty][tx] = row <= a.shape[1] and k + tx <= a.shape[2] and a[row][k + tx] or 0
      tb[ty][tx] = k + ty <= b.shape[1] and column <= b.shape[2] and b[k + ty][column] or 0
      gpu.barrier()
      for j = 1, 4 do sum = sum + ta[ty][j] * tb[j][tx] end
      gpu.barrier()
    end
    if row <= c.shape[1] and column <= c.shape[2] then c[row][column] = sum end]]},
  {"heat in a plate", {grid = {3, 3}, block = {4, 4}}, "float64", {matrix(10, 11, same), zeros(10, 11), 0.1}, [[
    local u, new, c = ...
    local j, i = gpu.grid(2)
    local ny, nx = #u, u.shape[2]
    if i > ny or j > nx then return end
    if i == 1 or i == ny or j == 1 or j == nx then new[i][j] = u[i][j] return end
    new[i][j] = u[i][j] + c * (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - 4 * u[i][j])]]},
  {"bodies that attract each other", {grid = 2, block = 16}, "float64",
    {series(20, noise), series(20, function(i) return noise(i * 7) end), zeros(20), zeros(20), 0.01}, [[
    local px, py, ax, ay, eps = ...
    local i = gpu.grid()
    if i > #px then return end
    local fx, fy = 0, 0
    for j = 1, #px do
      if j ~= i then
        local dx, dy = px[j] - px[i], py[j] - py[i]
        local d2 = dx * dx + dy * dy + eps * eps
        local inv = 1 / (d2 * math.sqrt(d2))
        fx, fy = fx + dx * inv, fy + dy * inv
      end
    end
    ax[i], ay[i] = fx, fy]]},
  {"Mandelbrot with a helper function", {grid = {2, 2}, block = {8, 8}}, "float64", {zeros(12, 15), -2, 1, -1.2, 1.2, 50}, [[
    local image, x0, x1, y0, y1, most = ...
    local function steps(cr, ci)
      local zr, zi = 0, 0
      for n = 0, most - 1 do
        if zr * zr + zi * zi > 4 then return n end
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
      end
      return most
    end
    local startx, starty = gpu.grid(2)
    local gridx, gridy = gpu.grid_size(2)
    for x = startx, image.shape[2], gridx do
      for y = starty, #image, gridy do
        image[y][x] = steps(x0 + (x - 1) * (x1 - x0) / image.shape[2], y0 + (y - 1) * (y1 - y0) / #image)
      end
    end]]},
  {"one step of a bitonic sort", {grid = 2, block = 32}, "float64", {series(64, noise), 4, 8}, [[
    local v, j, k = ...
    local i = gpu.grid() - 1
    local other = bit.bxor(i, j)
    if other <= i then return end
    local up = bit.band(i, k) == 0
    if (v[i + 1] > v[other + 1]) == up then v[i + 1], v[other + 1] = v[other + 1], v[i + 1] end]]},
  {"a convolution with a halo", {grid = 4, block = 16}, "float64", {series(50, noise), {1, 2, 3, 2, 1}, zeros(50)}, [[
    local x, w, out = ...
    local R = 2
    local tile = gpu.shared(20, "float64")
    local t, i, n = gpu.thread(), gpu.grid(), #x
    tile[t + R] = i <= n and x[i] or 0
    if t <= R then
      tile[t] = i > R and x[i - R] or 0
      tile[t + 16 + R] = i + 16 <= n and x[i + 16] or 0
    end
    gpu.barrier()
    if i > n then return end
    local s = 0
    for k = -R, R do s = s + w[k + R + 1] * tile[t + R + k] end
    out[i] = s]]},
  {"the game of life on a torus", {grid = {2, 2}, block = {8, 8}}, "int32",
    {matrix(9, 11, function(x) return x < 0.4 and 1 or 0 end), zeros(9, 11)}, [[
    local a, b = ...
    local x, y = gpu.grid(2)
    local h, w = a.shape[1], a.shape[2]
    if x > w or y > h then return end
    local n = 0
    for dy = -1, 1 do
      for dx = -1, 1 do
        if dx == 0 and dy == 0 then goto continue end
        n = n + a[(y - 1 + dy) % h + 1][(x - 1 + dx) % w + 1]
        ::continue::
      end
    end
    b[y][x] = (n == 3 or n == 2 and a[y][x] == 1) and 1 or 0]]},
  {"a step of Floyd and Warshall", {grid = {2, 2}, block = {8, 8}}, "float64", {matrix(13, 13, same), 5}, [[
    local d, k = ...
    local j, i = gpu.grid(2)
    if i > #d or j > #d then return end
    if i ~= k and j ~= k then d[i][j] = math.min(d[i][j], d[i][k] + d[k][j]) end]]},
  {"the nearest centre", {grid = 1, block = 32}, "float64",
    {matrix(30, 3, same), matrix(4, 3, function(x) return noise(x * 1e4) end), zeros(30)}, [[
    local points, centres, label = ...
    local i = gpu.grid()
    if i > #points then return end
    local best, which = math.huge, 0
    for c = 1, #centres do
      local d = 0
      for k = 1, points.shape[2] do d = d + (points[i][k] - centres[c][k]) ^ 2 end
      if d < best then best, which = d, c end
    end
    label[i] = which]]},
  {"a sphere, by rays", {grid = {2, 2}, block = {8, 8}}, "float64",
    {zeros(10, 12), matrix(3, 4, function(x) return x * 4 - 2 end)}, [[
    local image, spheres = ...
    local function dot(ax, ay, az, bx, by, bz) return ax * bx + ay * by + az * bz end
    local function normalised(x, y, z)
      local l = math.sqrt(dot(x, y, z, x, y, z))
      return x / l, y / l, z / l
    end
    local function hit(dx, dy, dz, s)
      local cx, cy, cz, r = s[1], s[2], s[3] - 4, math.abs(s[4]) + 0.5
      local along = dot(cx, cy, cz, dx, dy, dz)
      if along < 0 then return -1 end
      local d2 = dot(cx, cy, cz, cx, cy, cz) - along * along
      if d2 > r * r then return -1 end
      return along - math.sqrt(r * r - d2)
    end
    local x, y = gpu.grid(2)
    if x > image.shape[2] or y > #image then return end
    local dx, dy, dz = normalised(x / 6 - 1, y / 5 - 1, -1)
    local near, which = math.huge, 0
    for k = 1, #spheres do
      local t = hit(dx, dy, dz, spheres[k])
      if t > 0 and t < near then near, which = t, k end
    end
    image[y][x] = which == 0 and 0 or near + which]]},
  {"a distance of words, by rows", {grid = 1, block = 8}, "int32",
    {matrix(8, 6, letter), matrix(8, 7, letter), zeros(8)}, [[
    local words, others, out = ...
    local t = gpu.thread()
    local a, b, row = words[t], others[t], gpu.local_array(8, "int32")
    for j = 1, #b + 1 do row[j] = j - 1 end
    for i = 1, #a do
      local corner = row[1]
      row[1] = i
      for j = 1, #b do
        local best = math.min(row[j + 1] + 1, row[j] + 1, corner + (a[i] == b[j] and 0 or 1))
        corner, row[j + 1] = row[j + 1], best
      end
    end
    out[t] = row[#b + 1] ]]},
  {"the longest of Collatz' sequences", {grid = 2, block = 32}, "int64", {series(64, same), {0, 0}}, [[
    local x, most = ...
    local i = gpu.grid()
    local n, steps = x[i], 0
    while n ~= 1 do
      if n % 2 == 0 then n = math.floor(n / 2) else n = 3 * n + 1 end
      steps = steps + 1
    end
    gpu.atomic.max(most, 1, steps)
    gpu.atomic.sub(most, 2, steps)]]},
  {"the extremes of floating numbers", {grid = 4, block = 32}, "float64",
    {series(120, function(i) return noise(i) - 0.5 end), {-9, 9, 0}}, [[
    local x, out = ...
    local i = gpu.grid()
    if i > #x then return end
    gpu.atomic.max(out, 1, x[i])
    gpu.atomic.min(out, 2, x[i])
    gpu.atomic.exchange(out, 3, 1)]]},
}

describe("a program as a kernel", function()
  for _, program in ipairs(programs) do
    local name, config, dtype, arguments, text = unpack(program)
    it("computes " .. name, function()
      local names = text:match "local ([^\n]-) = %.%.%."
      local chunk = assert(loadstring("return function(" .. names .. ")\n" .. text:gsub("^[^\n]*\n", "") .. "\nend"))
      local plain, arrays = {}, {}
      for k, argument in ipairs(arguments) do
        local is_array = type(argument) == "table"
        plain[k] = is_array and simulator.array(argument) or argument
        arrays[k] = is_array and gpu.array(argument, dtype) or argument
      end
      simulator.kernel(chunk(), config)(unpack(plain))
      gpu.jit(setfenv(chunk(), setmetatable({gpu = gpu}, {__index = _G})), {fmad = false})(config)(unpack(arrays))
      for k, argument in ipairs(arguments) do
        if type(argument) == "table" then
          assert.are.same(simulator.values(plain[k]), arrays[k]:table(), name .. ", argument " .. k)
        end
      end
    end)
  end
end)

describe("complex numbers in a Lua function", function()
  it("are made of their parts", function()
    local turn = gpu.vectorize(function(x, y) return gpu.complex(x, y) * gpu.complex(0, 1) end)
    local single, double = turn(gpu.array {1, 3}, gpu.array {2, 4}), turn(gpu.array({1}, "float64"), gpu.array({2}, "int32"))
    assert.are.same({"complex64", "complex128"}, {single.dtype, double.dtype})
    assert.are.same({-2, -4}, single:real():table())
    assert.are.same({1, 3}, single:imag():table())
    assert.are.equal(-2, double:real()[1])
    local steps = gpu.vectorize(function(x, y)
      local z, c = gpu.complex(0), gpu.complex(x, y)
      for n = 1, 50 do
        z = z * z + c
        if gpu.abs(z) > 2 then return n end
      end
      return 50
    end)
    assert.are.same({50, 1, 4}, steps(gpu.array({0, 2, 0.5}, "float64"), gpu.array({0, 2, 0.7}, "float64")):table())
    require "support".fails("expected real numbers for gpu.complex, got a number of dtype complex64", function()
      return gpu.vectorize(function(z) return gpu.complex(z, 1) end)(single)
    end)
  end)
end)
