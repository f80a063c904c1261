-- k-means clustering of the points in scripts/data/clusters.npz: Lloyd's algorithm from centres chosen by k-means++ (Arthur and
-- Vassilvitskii, 2007), the best of several starts. The file also has the cluster that each point was drawn from. The
-- algorithm does not see these; the end of the script compares them with its result.
--
--   gpulua scripts/kmeans.lua [clusters] [starts]

local gpu = require "gpu"

local k = tonumber(arg and arg[1]) or 5
local starts = tonumber(arg and arg[2]) or 8

local folder = arg and arg[0] and arg[0]:match "^(.*)/" or "."
local data = assert(gpu.load(folder .. "/data/clusters.npz"))
local n, dimensions = data.points.shape[1], data.points.shape[2]
local points = (data.points - data.points:mean(1)) / data.points:std(1) -- gives measurements of different scales equal weight
points:eval()

--- Squared distances of each point to each centre. The kernels of the reductions below compute them; none is stored.
local function distances(centres) return (points(":", gpu.newaxis) - centres):square():sum(3) end

--- Draws centres from the points. A point's probability grows with the square of its distance to the earlier centres.
local function choose_centres()
  local centres = points(gpu.random.integers(1, 1, n + 1))
  while #centres < k do
    local weights = distances(centres):min(2):cumsum()
    local position = weights:searchsorted(gpu.rand(1) * weights { n, n }):minimum(n)
    centres = gpu.concat { centres, points(position) }
  end
  return centres
end

--- Moves the centres until they no longer change. Returns the labels, the sum of squared distances and the number of steps.
local function settle(centres)
  local labels = gpu.zeros(n, "int64")
  for step = 1, math.huge do
    local squares = distances(centres)
    local nearest, inertia = squares:argmin(2), squares:min(2):sum { dtype = "float64" }
    gpu.eval(nearest, inertia)
    if nearest:equal(labels) then return labels, inertia:item(), step end
    labels = nearest
    local is_member = labels(":", gpu.newaxis):eq(gpu.range(1, k)) -- (n,k)
    local sums = gpu.where(is_member(":", ":", gpu.newaxis), points(":", gpu.newaxis), 0):sum(1)
    local count = is_member:sum(1):reshape(k, 1)
    centres = gpu.where(count:eq(0), centres, sums / count) -- a cluster without points keeps its centre
  end
end

gpu.random.seed(7)
local best = { inertia = math.huge }
for start = 1, starts do
  local labels, inertia, steps = settle(choose_centres())
  print(("start %d: inertia %.3f after %d steps"):format(start, inertia, steps))
  if inertia < best.inertia then best = { labels = labels, inertia = inertia } end
end

-- ---- comparison with the clusters that the points came from --------------------------------------------------------------------------

local true_count = data.labels:max():item()
local both = (data.labels - 1) * k + (best.labels - 1):astype "int32"
local table_of = gpu.bincount(both, { minlength = true_count * k }):reshape(true_count, k):table()
local sizes = gpu.bincount(best.labels - 1, { minlength = k }):table()

--- The number of points that agree under the best assignment of clusters to true clusters.
local function most_agreeing(row, taken)
  if row > true_count then return 0 end
  local most = most_agreeing(row + 1, taken) -- the cluster was not found
  for column = 1, k do
    if not taken[column] then
      taken[column] = true
      most = math.max(most, table_of[row][column] + most_agreeing(row + 1, taken))
      taken[column] = nil
    end
  end
  return most
end
local agreement = most_agreeing(1, {}) / n

print(("k-means: %d points of %d measurements in %d clusters on %s"):format(n, dimensions, k, tostring(gpu.device())))
print(("inertia               %.3f"):format(best.inertia))
print("sizes                 " .. table.concat(sizes, " "))
print(("agreement             %.1f%% of the points"):format(100 * agreement))
local total = points:square():sum({ dtype = "float64" }):item()
assert(best.inertia < total, "clusters were to lie closer together than all points")
if k == 5 then assert(best.inertia < 0.25 * total and agreement > 0.97, "the clusters were to be found") end
