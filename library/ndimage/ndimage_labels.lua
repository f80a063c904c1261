-- gpu.ndimage: the connected parts of an array.
-- In sandboxes: all
local gpu, _, core, import = ...
import "ndimage_morphology"
local views = import "views"
local checks = import "checks"
local kinds = import "kinds"
local ndimage, nd = gpu.ndimage, import "ndimage"

-- ---- labels --------------------------------------------------------------------------------------------------------------------

-- Each element points at an earlier one of its part, the first at itself; neighbours unite their parts by letting the later first
-- element point at the earlier one (V. M. A. Oliveira and R. A. Lotufo, 2010; with atomicMin the order of the unions does not matter).
local source = [[
__device__ inline int first_of(int* parents, int i) {
  for (;;) {
    const int parent = parents[i];
    if (parent == i) return i;
    i = parent;
  }
}
__global__ void unite(int* parents, int n, const int* shape, const int* steps, const int* distances, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || parents[i] < 0) return;
  int place[NDIM], rest = i;
  for (int axis = NDIM - 1; axis >= 0; --axis) {
    place[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  for (int k = 0; k < count; ++k) {
    bool inside = true;
    for (int axis = 0; axis < NDIM; ++axis) {
      const int at = place[axis] + steps[k * NDIM + axis];
      inside = inside && at >= 0 && at < shape[axis];
    }
    const int other = i + distances[k];
    if (!inside || parents[other] < 0) continue;
    int a = first_of(parents, i), b = first_of(parents, other);
    while (a != b) {
      const int later = a > b ? a : b, earlier = a > b ? b : a;
      const int before = atomicMin(&parents[later], earlier);
      if (before == later) break;
      a = first_of(parents, before);
      b = first_of(parents, earlier);
    }
  }
}
__global__ void flatten(int* parents, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && parents[i] >= 0) atomicMin(&parents[i], first_of(parents, i));
}
__global__ void find_bounds(const int* labels, int n, const int* shape, int count, int* first, int* last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || labels[i] < 1 || labels[i] > count) return;
  int rest = i;
  for (int axis = NDIM - 1; axis >= 0; --axis) {
    const int at = rest % shape[axis] + 1, place = (labels[i] - 1) * NDIM + axis;
    rest /= shape[axis];
    atomicMin(&first[place], at);
    atomicMax(&last[place], at);
  }
}
]]

local modules = {}
--- The kernels for arrays of that many axes.
local function kernels_for(ndim, device)
  local key = ndim .. device
  modules[key] = modules[key] or core.module(source, {device = device, defines = {NDIM = ndim}})
  return modules[key]
end

local function int32(values, device) return gpu.array(values, {dtype = "int32", device = device}) end

--- The elements of a structure of three elements on each axis.
local function check_structure(op, structure)
  local flat = structure:ravel():table()
  for _, extent in ipairs(structure.shape) do
    if extent ~= 3 then core.fail(op, "a structure of three elements on each axis", structure) end
  end
  for k = 1, #flat do
    if flat[k] ~= flat[#flat + 1 - k] then core.raise(("[%s] expected a symmetric structure"):format(op)) end
  end
  return flat
end

--- The steps to the neighbours that come before an element, for a structure of three elements on each axis, and how far away they are
--- in elements.
local function earlier_steps(op, x, structure)
  local list, distances, flat = {}, {}, check_structure(op, structure)
  local middle = (#flat + 1) / 2
  for k = 1, #flat do
    if k < middle and flat[k] then
      local rest, step = k - 1, {}
      for axis = x.ndim, 1, -1 do
        step[axis] = rest % 3 - 1
        rest = math.floor(rest / 3)
      end
      local distance = 0
      for axis = 1, x.ndim do
        list[#list + 1] = step[axis]
        distance = distance * x.shape[axis] + step[axis]
      end
      distances[#distances + 1] = distance
    end
  end
  return list, distances
end

--- For each element the position of the first one of its part, counted from 0; -1 where `inside` is false. A vector. `places`: the
--- elements' positions; elements with one position are of one part.
local function first_elements(op, inside, structure, places)
  local device, n = inside.device, inside.size
  local steps, distances = earlier_steps(op, inside, structure)
  local parents = gpu.where(inside:ravel(), places, -1):astype("int32"):eval()
  if #steps == 0 then return parents end
  local kernels = kernels_for(inside.ndim, device)
  kernels.unite:over(n)(parents, n, int32(inside.shape, device), int32(steps, device), int32(distances, device), #distances)
  kernels.flatten:over(n)(parents, n)
  return parents
end

--- Fails for x without dimensions and of 2^31 elements. Gives where it is not 0.
function nd.check_size(op, x)
  checks.real(op, x)
  if x.ndim == 0 then core.fail(op, "an array with dimensions", x) end
  if x.size >= 2 ^ 31 then core.fail(op, "fewer than 2^31 elements", x) end
  return x.dtype == "bool" and x or x:ne(0)
end

--- gpu.ndimage.label(x [, {structure}])
--- The parts that are connected, numbered from 1, and their number.
function ndimage.label(x, options)
  local op = "ndimage.label"
  local inside = nd.check_size(op, x)
  options = checks.fields(op, options)
  local structure = nd.read_structure(op, x, options.structure)
  if x.size == 0 then return gpu.zeros(x.shape, {dtype = "int32", device = x.device}), 0 end
  local labels, count = core.label_parts(inside, check_structure(op, structure))
  if labels then return labels, count end
  local places = views.along(x.size, 1, 1, x.device)
  local firsts = first_elements(op, inside, structure, places)
  local number = core.cast(firsts:eq(places), "int32"):cumsum()
  labels = gpu.where(firsts:lt(0), 0, number:take(gpu.maximum(firsts, 0) + 1)):astype "int32"
  return labels:reshape(x.shape):eval(), number[x.size]
end

--- gpu.ndimage.binary_fill_holes(x [, {structure}])
--- What is not connected to the border around x is filled.
function ndimage.binary_fill_holes(x, options)
  local op = "ndimage.binary_fill_holes"
  local inside = nd.check_size(op, x)
  options = checks.fields(op, options)
  local structure = nd.read_structure(op, x, options.structure)
  if x.size == 0 then return inside:copy() end
  local widths, specs = {}, {}
  for axis, extent in ipairs(x.shape) do widths[axis], specs[axis] = {1, 1}, {2, extent + 1} end
  local outside = inside:logical_not():pad(widths, {value = 1})
  -- The frame is one part, whatever the structure.
  local frame = gpu.ones(x.shape, {dtype = "bool", device = x.device}):pad(widths):logical_not():ravel()
  local places = gpu.where(frame, 0, views.along(outside.size, 1, 1, x.device))
  local firsts = first_elements(op, outside, structure, places):reshape(outside.shape)
  return firsts(unpack(specs)):ne(0)
end

--- gpu.ndimage.find_objects(labels [, count])
--- For each label the ranges of a box around it, a list of {first, last}; false for a label that does not occur.
function ndimage.find_objects(labels, count)
  local op = "ndimage.find_objects"
  nd.check_size(op, labels)
  local kind = kinds.of(labels)
  if kind ~= "int" and kind ~= "uint" then core.fail(op, "labels: integers", labels) end
  if count == nil then count = labels.size > 0 and math.max(labels:max():item(), 0) or 0 end
  if checks.integer(op, "a number of labels, 0 or more", count) < 0 or count * labels.ndim >= 2 ^ 31 then
    core.fail(op, "a number of labels, 0 or more", count)
  end
  local boxes, ndim, device = {}, labels.ndim, labels.device
  if count == 0 then return boxes end
  local first = gpu.full({count, ndim}, 2 ^ 31 - 1, {dtype = "int32", device = device}):eval()
  local last = gpu.zeros({count, ndim}, {dtype = "int32", device = device}):eval()
  kernels_for(ndim, device).find_bounds:over(labels.size)(core.cast(labels, "int32"):contiguous(), labels.size,
    int32(labels.shape, device), count, first, last)
  local firsts, lasts = first:table(), last:table()
  for label = 1, count do
    boxes[label] = lasts[label][1] > 0 and {}
    for axis = 1, boxes[label] and ndim or 0 do boxes[label][axis] = {firsts[label][axis], lasts[label][axis]} end
  end
  return boxes
end
