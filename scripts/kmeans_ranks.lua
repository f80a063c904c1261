-- k-means clustering in several processes: each rank holds a share of the points, and in each step the ranks add up the sums and
-- the counts of their clusters (gpu.comm.all_reduce). Rank 0 compares the labels with those of a single process.
--
--   gpulua --ranks 4 scripts/kmeans_ranks.lua [clusters]

local gpu = require "gpu"
local comm = gpu.comm

local k = tonumber(arg and arg[1]) or 5
local folder = arg and arg[0] and arg[0]:match "^(.*)/" or "."
local data = assert(gpu.load(folder .. "/data/clusters.npz"))
local all_points = (data.points - data.points:mean(1)) / data.points:std(1)
local n = all_points.shape[1]

--- Lloyd's algorithm on some of the points. `combine` adds an array over the processes that share the points. Returns the labels,
--- the sum of squared distances and the number of steps.
local function settle(points, combine)
  local centres = all_points { 1, k }:copy()
  local labels = gpu.zeros(points.shape[1], "int64")
  for step = 1, math.huge do
    local squares = (points(":", gpu.newaxis) - centres):square():sum(3)
    local nearest, inertia = squares:argmin(2), squares:min(2):sum { dtype = "float64" }
    local is_member = nearest(":", gpu.newaxis):eq(gpu.range(1, k)) -- (points,k)
    local sums = combine(gpu.where(is_member(":", ":", gpu.newaxis), points(":", gpu.newaxis), 0):sum(1, { dtype = "float64" }))
    local count = combine(is_member:sum(1)):reshape(k, 1)
    local moved = combine(nearest:ne(labels):sum()):item()
    labels = nearest
    if moved == 0 then return labels, combine(inertia):item(), step end
    centres = gpu.where(count:eq(0), centres, sums / count):astype "float32" -- a cluster without points keeps its centre
  end
end

local labels, inertia, steps = settle(comm.part(all_points), comm.all_reduce)
local all_labels = comm.gather(labels)

if comm.is_root then
  local alone, inertia_alone, steps_alone = settle(all_points, function(x) return x end)
  assert(gpu.array_equal(all_labels, alone) and steps == steps_alone, "the labels were to be those of a single process")
  assert(math.abs(inertia - inertia_alone) < 1e-6 * inertia_alone, "the inertia was to be the one of a single process")
  print(("k-means: %d points in %d clusters on %s"):format(n, k, tostring(gpu.device())))
  print(("inertia               %.3f after %d steps"):format(inertia, steps))
end
