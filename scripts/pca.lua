-- Principal components of the points in scripts/data/clusters.npz: the directions of greatest variance, by singular values and by the
-- eigenvalues of the correlations. A picture of characters shows the points along the first two.
--
--   gpulua scripts/pca.lua [components]

local gpu = require "gpu"
local linalg = gpu.linalg

local kept = tonumber(arg and arg[1]) or 2

local folder = arg and arg[0] and arg[0]:match "^(.*)/" or "."
local data = assert(gpu.load(folder .. "/data/clusters.npz"))
local points = data.points:astype "float64"
local n, dimensions = points.shape[1], points.shape[2]
local scaled = ((points - points:mean(1)) / points:std(1)):eval()

-- The rows of `directions` are the components.
local _, singular, directions = linalg.svd(scaled, { full_matrices = false })
local variances = singular:square() / n
local share = variances / variances:sum()
local scores = scaled:matmul(directions({ 1, kept }, ":").T)

print(("%d points of %d measurements on %s"):format(n, dimensions, tostring(gpu.device())))
local shares, total = share:table(), 0
for i, value in ipairs(shares) do
  total = total + value
  print(("component %d  variance %6.3f  share %5.1f%%  together %5.1f%%"):format(i, variances[i], 100 * value, 100 * total))
end

-- The variances are the eigenvalues of the matrix of correlations.
local eigenvalues = linalg.eigvalsh(gpu.corrcoef(points, { rowvar = false })):flip(1)
assert((eigenvalues - variances):abs():max():item() < 1e-9, "both ways were to give the same variances")

-- What the kept components lose is the variance of the others.
local rebuilt = scores:matmul(directions({ 1, kept }, ":"))
local lost = (scaled - rebuilt):square():mean():item() * dimensions
local expected = 0
for i = kept + 1, dimensions do expected = expected + variances[i] end
print(("lost with %d components: %.4f of %d"):format(kept, lost, dimensions))
assert(math.abs(lost - expected) < 1e-9, "the loss was to be the variance of the other components")

if kept >= 2 then
  local width, height = 72, 20
  local x, y = scores(":", 1), scores(":", 2)
  local counts = gpu.histogram2d(y, x, { height, width }):table()
  for row = height, 1, -1 do
    local line = {}
    for column = 1, width do
      local count = counts[row][column]
      line[column] = count == 0 and " " or count < 3 and "." or count < 8 and "o" or "#"
    end
    print((table.concat(line):gsub("%s+$", "")))
  end
end
