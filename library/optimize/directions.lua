-- Directions of descent. A method has `direction`, of the point {x, value, g}, a vector; `accept`, which learns from a step; and
-- `forget`, after which the direction is that of steepest descent. It says whether there was something to forget.
local gpu, _, core, import = ...
local space = import "spaces"

local dot, look = space.dot, space.look
local directions = {}

local function column(x) return x:reshape(x.size, 1) end

-- ---- BFGS ---------------------------------------------------------------------------------------------------------------------

local bfgs = {}
bfgs.__index = bfgs

--- With the inverse of the Hessian as a matrix (J. Nocedal and S. J. Wright, "Numerical Optimization", 6.17 and 6.20).
function directions.BFGS(of)
  local most = 4096
  if of.n > most then
    core.raise(('[%s] expected at most %d elements for method = "BFGS", which keeps a matrix, got %d; "L-BFGS-B" keeps vectors'):format(
      of.op, most, of.n))
  end
  return setmetatable({space = of}, bfgs)
end

function bfgs:direction(point) return self.inverse and -self.inverse:matmul(point.g) or -point.g end

function bfgs:accept(from, to)
  local s, y = to.x - from.x, to.g - from.g
  if to.t * to.slope <= to.predicted then return end -- s' y <= 0
  local n, scale = self.space.n, 1 / dot(s, y)
  self.inverse = self.inverse or gpu.eye(n, {dtype = self.space.dtype, device = self.space.device}) / (dot(y, y) * scale)
  local z = self.inverse:matmul(y)
  local part = column(z) * s:reshape(1, n)
  self.inverse = (self.inverse + (1 + dot(y, z) * scale) * scale * column(s) * s:reshape(1, n) - scale * (part + part.T)):eval()
end

function bfgs:forget()
  local had = self.inverse ~= nil
  self.inverse = nil
  return had
end

-- ---- L-BFGS -------------------------------------------------------------------------------------------------------------------

local lbfgs = {}
lbfgs.__index = lbfgs

local most_pairs = 10
local last_row = 2 * most_pairs + 1

--- By the last pairs s and y of steps and changes of the gradient (J. Nocedal, 1980), in the form that needs their products alone
--- (W. Chen, Z. Wang and J. Zhou, 2014): the vectors are rows of a matrix, s from row 1 on, y after them, the gradient last. With
--- bounds, the variables that these hold are left out of all products (D. P. Bertsekas, 1982).
directions["L-BFGS-B"] = function(of, bounds)
  local rows = gpu.zeros(last_row, of.n, {dtype = of.dtype, device = of.device})
  return setmetatable({space = of, rows = rows, bounds = bounds, pairs = {}}, lbfgs)
end

--- 1 for the variables that are free to move along the gradient, 0 for the others.
local function free(self, point)
  if not self.bounds then return nil end
  local low, high = unpack(self.bounds)
  local x, g = point.x, point.g
  -- What is near a bound counts as there, or short steps would follow each other along it.
  local near = gpu.minimum((x - gpu.minimum(gpu.maximum(x - g, low), high)):abs():max(), 1e-6)
  local held = gpu.logical_or(gpu.logical_and(x:le(low + near), g:gt(0)), gpu.logical_and(x:ge(high - near), g:lt(0)))
  return gpu.where(held, 0, 1):astype(self.space.dtype)
end

function lbfgs:direction(point)
  local rows, order = self.rows, self.pairs
  rows(last_row):copy_(point.g)
  local mask = free(self, point)
  local products = look((mask and rows * mask or rows):matmul(rows.T))
  local function product(i, j) return products[(i - 1) * last_row + j] end
  local weights, used, part = {}, {}, {}
  for i = 1, last_row do weights[i] = 0 end
  weights[last_row] = 1
  local function along(row)
    local sum = 0
    for j = 1, last_row do
      if weights[j] ~= 0 then sum = sum + weights[j] * product(row, j) end
    end
    return sum
  end
  for _, s in ipairs(order) do
    local y = s + most_pairs
    if product(s, y) > 1e-10 * math.sqrt(product(s, s) * product(y, y)) then used[#used + 1] = s end
  end
  for i = #used, 1, -1 do
    local s, y = used[i], used[i] + most_pairs
    part[i] = along(s) / product(s, y)
    weights[y] = weights[y] - part[i]
  end
  if #used > 0 then
    local s, y = used[#used], used[#used] + most_pairs
    for j = 1, last_row do weights[j] = weights[j] * product(s, y) / product(y, y) end
  end
  for i, s in ipairs(used) do weights[s] = weights[s] + part[i] - along(s + most_pairs) / product(s, s + most_pairs) end
  local d = -self.space:array(weights):matmul(rows)
  self.scaled = #used > 0
  return mask and d * mask or d
end

function lbfgs:accept(from, to)
  local row = #self.pairs < most_pairs and #self.pairs + 1 or table.remove(self.pairs, 1)
  self.rows(row):copy_(to.x - from.x)
  self.rows(row + most_pairs):copy_(to.g - from.g)
  self.pairs[#self.pairs + 1] = row
end

function lbfgs:forget()
  local had = #self.pairs > 0
  self.pairs = {}
  return had
end

-- ---- Newton-CG ----------------------------------------------------------------------------------------------------------------

local newton = {}
newton.__index = newton

--- The Newton step by conjugate gradients, which end early far from the minimum and where the curvature is not positive (R. S. Dembo
--- and T. Steihaug, 1983). Products with the Hessian are differences of gradients.
directions["Newton-CG"] = function(of, _, evaluate)
  return setmetatable({space = of, evaluate = evaluate, epsilon = of.dtype == "float64" and 2 ^ -26 or 2 ^ -11}, newton)
end

function newton:direction(point)
  local x, g = point.x, point.g
  local length = (1 + dot(x, x):sqrt()):eval()
  local r, p = -g, -g
  local d, rr = gpu.zeros_like(g), dot(g, g):eval()
  local wanted
  for i = 1, math.min(self.space.n, 200) do
    local step = (self.epsilon * length / dot(p, p):sqrt()):eval()
    local _, beyond = self.evaluate(x + step * p)
    local product = ((beyond - g) / step):eval()
    local curve = dot(p, product)
    local alpha = rr / curve
    local next_r = (r - alpha * product):eval()
    local next_rr = dot(next_r, next_r):eval()
    local now = look(rr, curve, next_rr)
    wanted = wanted or math.min(0.5, now[1] ^ 0.25) ^ 2 * now[1]
    if not (now[2] > 0) then return i == 1 and p or d end
    d = (d + alpha * p):eval()
    if not (now[3] > wanted) then return d end
    p = (next_r + next_rr / rr * p):eval()
    r, rr = next_r, next_rr
  end
  return d
end

function newton:accept() self.scaled = true end

function newton:forget() return false end

return directions
