-- gpu.ndimage: the distances of elements to the nearest one outside of their part.
-- In sandboxes: all
local gpu, _, core, import = ...
import "ndimage_labels"
local views = import "views"
local checks = import "checks"
local ndimage, nd = gpu.ndimage, import "ndimage"

-- A thread for each line along an axis. Where j is `d` away along the line, the square of its distance to what is nearest to j along
-- the axes before is a parabola, squares[j] + (d * sampling)^2. The lower envelope of these takes one walk over the line to find and
-- one to read, however far away the nearest elements are (P. F. Felzenszwalb and D. P. Huttenlocher, "Distance Transforms of Sampled
-- Functions", 2012). Parabola k of the envelope belongs to element vertices[k], and is the lowest from bounds[k] on.
local source = [[
__global__ void take_envelope(const double* __restrict__ squares, const long long* __restrict__ from, double* __restrict__ result,
                              long long* __restrict__ places, int* __restrict__ vertices, double* __restrict__ bounds, int lines,
                              int extent, int stride, double sampling) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const double infinity = 1.0 / 0.0, weight = sampling * sampling;
  const long long first = (long long)(line / stride) * stride * extent + line % stride;
  squares += first, from += first, result += first, places += first, vertices += first, bounds += first;
  int count = 0, vertex = 0;
  double height = 0, bound = 0;  // of the last parabola
  for (int j = 0; j < extent; ++j) {
    const double square = squares[(long long)j * stride];
    if (square == infinity) continue;
    double start = -infinity;
    while (count > 0) {
      start = ((square - height) / weight + ((double)j * j - (double)vertex * vertex)) / (2.0 * (j - vertex));
      if (start > bound) break;
      start = -infinity;
      if (--count == 0) break;
      vertex = vertices[(long long)(count - 1) * stride];
      height = squares[(long long)vertex * stride];
      bound = bounds[(long long)(count - 1) * stride];
    }
    vertex = j, height = square, bound = start;
    vertices[(long long)count * stride] = vertex;
    bounds[(long long)count * stride] = bound;
    ++count;
  }
  int k = -1;
  double next = count > 0 ? -infinity : infinity;
  for (int j = 0; j < extent; ++j) {
    while (next < j) {
      ++k;
      vertex = vertices[(long long)k * stride];
      next = k + 1 < count ? bounds[(long long)(k + 1) * stride] : infinity;
    }
    const long long nearest = (long long)(count > 0 ? vertex : j) * stride;
    const double distance = (double)(j - (count > 0 ? vertex : j)) * sampling;
    result[(long long)j * stride] = squares[nearest] + distance * distance;
    places[(long long)j * stride] = from[nearest];
  }
}
]]

local kernels = {}

--- Along the last axis: the square of the distance to the nearest element that is not `inside`, and that element's position, from 0.
local function along_last_axis(inside, sampling)
  local extent, device = inside.shape[inside.ndim], inside.device
  local own = gpu.arange(extent, {dtype = "float64", device = device})
  local before = gpu.where(inside, -math.huge, own):cummax(-1)
  local after = gpu.where(inside, math.huge, own):flip(-1):cummin(-1):flip(-1)
  local nearest = gpu.where((own - before):le(after - own), before, after)
  local is_alone = nearest:isinf()
  local step = gpu.where(is_alone, 0, nearest - own)
  local squares = gpu.where(is_alone, math.huge, (step * sampling) ^ 2)
  return gpu.eval(squares, views.along(inside.size, 1, 1, device):reshape(inside.shape) + step:astype "int64")
end

--- The same along another axis too, whose neighbours lie `stride` apart.
local function along_axis(squares, places, extent, stride, sampling)
  local device, lines = squares.device, squares.size / extent
  kernels[device] = kernels[device] or core.kernel(source, "take_envelope", {device = device})
  local function memory(dtype) return gpu.empty(squares.shape, {dtype = dtype, device = device}) end
  local result, result_places = memory "float64", memory "int64"
  kernels[device]:over(lines)(squares, places, result, result_places, memory "int32", memory "float64", lines, extent, stride, sampling)
  return result, result_places
end

--- gpu.ndimage.distance_transform_edt(x [, {sampling, return_indices}])
--- The distance of each element that is not 0 to the nearest that is.
function ndimage.distance_transform_edt(x, options)
  local op = "ndimage.distance_transform_edt"
  local inside = nd.check_size(op, x)
  options = checks.fields(op, options)
  local sampling = nd.each_axis(op, "a sampling above 0", options.sampling or 1, x.ndim, function(name, what, value)
    if checks.finite(name, what, value) <= 0 then core.fail(name, what, value) end
    return value
  end)
  local indices = checks.flag(op, "return_indices", options.return_indices)
  local squares, places = along_last_axis(inside, sampling[x.ndim])
  local stride = x.shape[x.ndim]
  for axis = x.ndim - 1, 1, -1 do
    local extent = x.shape[axis]
    if x.size > 0 and extent > 1 then squares, places = along_axis(squares, places, extent, stride, sampling[axis]) end
    stride = stride * extent
  end
  local distances = squares:sqrt()
  if not indices then return distances end
  return distances, gpu.stack({gpu.unravel_index(places:ravel() + 1, x.shape)}, 1):reshape({x.ndim, unpack(x.shape)})
end
