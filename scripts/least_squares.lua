-- Least squares: a trend and a yearly cycle fitted to the temperatures of many stations at once, with the standard errors of the
-- coefficients. The measurements are made up, so the script can compare its results with what they were made of.
--
--   gpulua scripts/least_squares.lua [stations] [days]

local gpu = require "gpu"
local linalg = gpu.linalg

local stations = tonumber(arg and arg[1]) or 200
local days = tonumber(arg and arg[2]) or 1461
local noise = 2.5 -- standard deviation, in degrees

gpu.random.seed(1)

-- A row for each day: 1, the time in decades, and a yearly wave.
local day = gpu.arange(days, "float64")
local angle = day * (2 * math.pi / 365.25)
local design = gpu.stack({ gpu.ones_like(day), day / 3652.5, angle:cos(), angle:sin() }, 2)

-- A column for each station: mean, warming in a decade, and the two parts of the wave.
local truth = gpu.stack {
  gpu.random.uniform({ stations }, -5, 25, "float64"),
  gpu.random.normal({ stations }, 0.3, 0.2, { dtype = "float64" }),
  gpu.random.uniform({ stations }, -12, -4, "float64"),
  gpu.random.uniform({ stations }, -3, 1, "float64"),
}
local measured = (design:matmul(truth) + gpu.random.normal({ days, stations }, 0, noise, { dtype = "float64" })):eval()

local found, squares, rank, singular = linalg.lstsq(design, measured)
local spread = (squares / (days - 4)):sqrt() -- of the noise, for each station
local errors = linalg.inv(design.T:matmul(design)):diagonal():sqrt():expand_dims(2) * spread

print(("%d stations, %d days, on %s"):format(stations, days, tostring(gpu.device())))
print(("rank %d, condition of the design %.2f"):format(rank:item(), (singular[1] / singular[4])))
for i, name in ipairs { "mean", "warming", "cosine", "sine" } do
  print(("%-8s %8.3f +- %.3f   was %8.3f"):format(name, found(i)[1], errors(i)[1], truth(i)[1]))
end
print(("noise    %8.3f           was %8.3f"):format(spread:mean():item(), noise))

-- How far off the coefficients are, in standard errors, follows the normal distribution.
local scores = (found - truth) / errors
local within = (scores:abs():lt(2)):astype("float64"):mean():item()
print(("within two standard errors: %.1f%%, to be expected 95.4%%"):format(100 * within))

-- The same by the normal equations, which are cheaper and lose digits, and by QR.
local normal = linalg.cho_solve(linalg.cholesky(design.T:matmul(design)), design.T:matmul(measured))
local q, r = linalg.qr(design)
local by_qr = linalg.solve_triangular(r, q.T:matmul(measured))
for name, other in pairs { ["the normal equations"] = normal, QR = by_qr } do
  local distance = (other - found):abs():max():item()
  print(("largest difference to %s: %.1e"):format(name, distance))
  assert(distance < 1e-8, "all ways were to agree")
end
assert(rank:item() == 4 and math.abs(spread:mean():item() - noise) < 0.1)
if stations >= 100 then assert(math.abs(within - 0.954) < 0.04, "the standard errors were to fit") end
