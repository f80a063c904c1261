-- A network that learns which of three spirals a point belongs to: a table of parameters, a loss, its gradient, Adam. The training step is
-- recorded once and launched as a graph. Checked: it tells new points apart.
--
--   gpulua scripts/mlp.lua [steps]

local gpu = require "gpu"

local steps = tonumber(arg and arg[1]) or 1500
local arms, hidden, batch = 3, 64, 1024
gpu.random.seed(5)

--- Points on spirals with some noise, and the number of the spiral.
local function spirals(n)
  local arm = gpu.random.integers(n, 0, arms)
  local t = gpu.rand(n)
  local angle = 2 * math.pi * (arm / arms + 0.75 * t) + 0.12 * gpu.randn(n)
  local points = gpu.stack({t * gpu.cos(angle), t * gpu.sin(angle)}, 2)
  return gpu.eval(points, arm + 1)
end

local function layer(inputs, outputs) return {w = gpu.randn(inputs, outputs):eval() * math.sqrt(2 / inputs), b = gpu.zeros(outputs)} end
local parameters = {layer(2, hidden), layer(hidden, hidden), layer(hidden, arms)}
for _, one in ipairs(parameters) do gpu.eval(one.w, one.b) end

--- The logarithms of the classes' probabilities, up to a constant.
local function scores(p, x)
  for i = 1, #p - 1 do x = gpu.maximum(x:matmul(p[i].w) + p[i].b, 0) end
  return x:matmul(p[#p].w) + p[#p].b
end

--- The mean cross entropy. What is picked from the scores is its derivative's too.
local function loss(p, x, label)
  local z = scores(p, x)
  return (gpu.logsumexp(z, 2) - z[{gpu.range(1, batch), label}]):mean()
end

local x, label = spirals(batch)
local optimizer = gpu.optimize.adam(parameters, {learning_rate = 3e-3})
local loss_and_gradient = gpu.value_and_grad(loss)
local last = gpu.zeros({})
local function step()
  local value, gradient = loss_and_gradient(parameters, x, label)
  optimizer:step(gradient)
  last:copy_(value)
end

local graph = gpu.graph(step)
local first
for i = 1, steps do
  if i % 10 == 0 then -- new points every ten steps, in the arrays that the graph reads
    local points, arm = spirals(batch)
    x:copy_(points)
    label:copy_(arm)
  end
  graph:launch()
  first = first or last:item()
  if i % math.floor(steps / 5) == 0 then print(("step %5d  loss %.4f"):format(i, last:item())) end
end

local points, arm = spirals(10000)
local right = (scores(parameters, points):argmax(2)):eq(arm):mean {dtype = "float64"}:item()
print(("%.1f %% of 10000 new points are told right, on %s"):format(100 * right, tostring(gpu.device())))
assert(right > 0.93 and last:item() < first / 4, "the network was to learn the spirals")
