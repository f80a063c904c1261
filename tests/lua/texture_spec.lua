local gpu = require "gpu"
local support = require "support"
local fails = support.fails

describe("textures", function()
  local folder = debug.getinfo(1, "S").source:match "^@(.*)lua/[^/]*$" .. "golden/textures/"
  local cases = dofile(folder .. "cases.lua")
  local recorded = assert(gpu.load(folder .. "textures.npz"))

  -- What an H200 has read, in tests/golden/textures. `unequal`: the share of reads that may differ by more than rounding, `step`.
  local tolerances = {
    {"float32 3d linear", unequal = 0.08, step = 8 / 256},  -- a weight of 1/256
    {"float16 2d linear", unequal = 0.02, step = 2 ^ -9},
    {"int8 2d linear", unequal = 0.08, step = 1.1 / 32767},
    {"linear", unequal = 0, step = 0},
  }
  for _, mode in ipairs(cases.modes) do
    it("are read as on an H200: " .. mode.name, function()
      local expected, got = recorded[mode.name], cases.read(mode, recorded[mode.name].shape[1])
      if not mode.name:find "linear" then return assert.is_true(gpu.array_equal(got, expected)) end
      local tolerance
      for _, row in ipairs(tolerances) do tolerance = tolerance or mode.name:find(row[1], 1, true) and row end
      local difference = gpu.abs(got:astype "float64" - expected)
      local beyond_rounding = difference:gt(1e-6)
      assert.is_true(beyond_rounding:mean():item() <= tolerance.unequal)
      if tolerance.unequal > 0 then assert.is_true(difference:max():item() <= tolerance.step) end
    end)
  end

  local read = [[__global__ void read(cudaTextureObject_t t, float x, float y, float* out) { *out = tex2D<float>(t, x, y); }]]
  local function kernel() return gpu.kernel(read, "read"){grid = 1, block = 1} end

  it("blend by the weights of a plain program", function()
    local values = {{1, 5, 2}, {7, 3, 4}}
    local k, out = kernel(), gpu.zeros(1)
    local texture = gpu.texture(gpu.array(values, "float32"), {filter = "linear"})
    for _, at in ipairs {{1, 1}, {1.25, 1.5}, {0.5, 0.5}, {2.75, 0.75}, {-3, 9}} do
      local x, y = math.max(0, math.min(at[1] - 0.5, 2)), math.max(0, math.min(at[2] - 0.5, 1))
      local i, j = math.min(math.floor(x), 1), 0
      local a, b = x - i, y - j
      local expected = (1 - b) * ((1 - a) * values[1][i + 1] + a * values[1][i + 2]) + b * ((1 - a) * values[2][i + 1] + a * values[2][i + 2])
      k(texture, at[1], at[2], out)
      assert.near(expected, out[1], 1e-6)
    end
  end)

  it("keep their elements, have new ones, and give them back", function()
    local x = gpu.arange(24, {dtype = "float32"}):reshape(2, 3, 4)
    for _, options in ipairs {{}, {layered = true}, {channels = 4}} do
      local texture = gpu.texture(x, options)
      local y = x * 2
      assert.is_true(gpu.array_equal(texture:array(), x))
      assert.are.equal(texture, texture:copy_(y:copy()))
      assert.is_true(gpu.array_equal(texture:array(), y))
    end
    local texture = gpu.texture(x("1"):transpose())  -- a view
    assert.is_true(gpu.array_equal(texture:array(), x("1"):transpose()))
    fails("[copy_] expected an array float32(4,3) on", texture.copy_, texture, gpu.zeros(3, 4))
    fails("[copy_] expected an array float32(4,3) on", texture.copy_, texture, gpu.zeros({4, 3}, "float64"))
  end)

  it("see later writes to an array whose memory they read", function()
    local x = gpu.zeros({4, 8}, "float32")
    local texture, k, out = gpu.texture(x, {memory = "array"}), kernel(), gpu.zeros(1)
    x[{2, 3}] = 7
    k(texture, 2.5, 1.5, out)
    assert.are.equal(7, out[1])
    fails("[array] expected a texture with elements of its own", texture.array, texture)
    fails("[surface] expected a texture with elements of its own", texture.surface, texture)
  end)

  it("are written as surfaces, and read in the next launch", function()
    local source = [[
      __global__ void shift(cudaSurfaceObject_t s, int width) {
        const int x = threadIdx.x, y = threadIdx.y;
        const float value = surf2Dread<float>(s, (x + 1) * 4, y, cudaBoundaryModeZero);
        __syncthreads();
        surf2Dwrite(value, s, x * 4, y);
      }
      __global__ void edges(cudaSurfaceObject_t s, float* out) {
        surf2Dread(out, s, -8, 1, cudaBoundaryModeClamp);
        out[1] = surf2Dread<float>(s, 400, 400, cudaBoundaryModeClamp);
        surf2Dwrite(9.0f, s, -4, 0, cudaBoundaryModeZero);
      }
      __global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 16, 0); }
      __global__ void bytes(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 2, 0); }]]
    local module = gpu.module(source)
    local x = gpu.arange(12, {dtype = "float32"}):reshape(3, 4)
    local texture = gpu.texture(x)
    module.shift{grid = 1, block = {4, 3}}(texture:surface(), 4)
    local expected = gpu.array({{1, 2, 3, 0}, {5, 6, 7, 0}, {9, 10, 11, 0}}, "float32")
    assert.is_true(gpu.array_equal(texture:array(), expected))
    local out = gpu.zeros(2)
    module.edges{grid = 1, block = 1}(texture:surface(), out)
    assert.are.same({5, 0}, out:table())
    assert.is_true(gpu.array_equal(texture:array(), expected))
    if gpu.device().kind ~= "cpu" then return end  -- on a GPU these end the process's work there
    local surface = texture:surface()
    fails("a position outside of the surface; cudaBoundaryModeZero", module.beyond{grid = 1, block = 1}, surface)
    fails("counts bytes, and is a multiple of the type's size", module.bytes{grid = 1, block = 1}, surface)
  end)

  it("of one and three dimensions and of layers are surfaces, too", function()
    local source = [[
      __global__ void line(cudaSurfaceObject_t s) { const int x = threadIdx.x * 2; surf1Dwrite((short)(surf1Dread<short>(s, x) + 1), s, x); }
      __global__ void box(cudaSurfaceObject_t s) {
        const int x = threadIdx.x * 2, y = threadIdx.y, z = threadIdx.z;
        surf3Dwrite((short)(surf3Dread<short>(s, x, y, z) + 1), s, x, y, z);
      }
      __global__ void lines(cudaSurfaceObject_t s) {
        const int x = threadIdx.x * 2, layer = threadIdx.y;
        surf1DLayeredwrite((short)(surf1DLayeredread<short>(s, x, layer) + 1), s, x, layer);
      }
      __global__ void planes(cudaSurfaceObject_t s) {
        const int x = threadIdx.x * 2, y = threadIdx.y, layer = threadIdx.z;
        surf2DLayeredwrite((short)(surf2DLayeredread<short>(s, x, y, layer) + 1), s, x, y, layer);
      }]]
    local module = gpu.module(source)
    for _, row in ipairs {{"line", {8}}, {"box", {2, 3, 4}}, {"lines", {3, 4}, layered = true}, {"planes", {2, 3, 4}, layered = true}} do
      local shape = row[2]
      local size = 1
      for _, length in ipairs(shape) do size = size * length end
      local x = gpu.arange(size, {dtype = "int16"}):reshape(shape)
      local texture = gpu.texture(x, {layered = row.layered})
      local block = {}
      for axis = 1, #shape do block[axis] = shape[#shape + 1 - axis] end
      module[row[1]]{grid = 1, block = block}(texture:surface())
      assert.is_true(gpu.array_equal(texture:array(), x + 1))
    end
  end)

  it("are ordered between streams, and belong to recorded work", function()
    local source = [[
      __global__ void add(cudaTextureObject_t t, float* out) { out[threadIdx.x] += tex1D<float>(t, threadIdx.x + 0.5f); }]]
    local out = gpu.zeros(64)
    local add = gpu.kernel(source, "add"){grid = 1, block = 64}
    local texture = gpu.texture(gpu.ones(64))
    gpu.with(gpu.stream(), function() texture:copy_(gpu.full(64, 3)) end)
    add(texture, out)
    assert.are.equal(3 * 64, out:sum():item())
    local graph = gpu.graph(function() add(gpu.ones(1) and texture, out) end)
    texture = nil
    collectgarbage()
    collectgarbage()
    for _ = 1, 5 do graph:launch() end
    assert.are.equal((3 + 3 + 5 * 3) * 64, out:sum():item())
    fails("[graph] expected a function whose work can be recorded, got one that makes a texture", gpu.graph,
      function() gpu.texture(gpu.ones(3)) end)
  end)

  it("go into arrays and structs as numbers", function()
    local source = [[
      __global__ void pick(const cudaTextureObject_t* textures, float* out) { out[threadIdx.x] = tex1D<float>(textures[threadIdx.x], 0.5f); }]]
    local a, b, out = gpu.texture(gpu.full(4, 5)), gpu.texture(gpu.full(4, 6)), gpu.zeros(2)
    gpu.kernel(source, "pick"){grid = 1, block = 2}(gpu.array({a:object(), b:object()}, "uint64"), out)
    assert.are.same({5, 6}, out:table())
  end)

  it("refuse what they do not hold", function()
    local x = gpu.zeros({4, 5}, "float32")
    fails('[texture] expected float16, float32 or integers of 8, 16 or 32 bits, got float64[4x5]; x:astype("float32") converts', gpu.texture,
      x:astype "float64")
    fails('x:astype("uint8") converts', gpu.texture, x:gt(0))
    fails("[texture] expected an array, got a table", gpu.texture, {1, 2})
    fails("[texture] expected an array with 1 to 3 axes, got float32[1x1x4x5]; channels = 4", gpu.texture, x:reshape(1, 1, 4, 5))
    fails("[texture] channels: expected 1, 2 or 4 numbers of an element, got 3; colours", gpu.texture, gpu.zeros(4, 5, 3), {channels = 3})
    fails("[texture] channels: expected as many as the last axis has, 5, got 4", gpu.texture, x, {channels = 4})
    fails("[texture] expected from 1 to 16384 columns", gpu.texture, gpu.zeros({1, 1, 16385}, "uint8"))
    fails("[texture] expected from 1 to 131072 columns", gpu.texture, gpu.zeros({0}, "uint8"))
    fails('[texture] filter: expected "point", "linear", got "liner"; did you mean "linear"?', gpu.texture, x, {filter = "liner"})
    fails('[texture] border: expected "clamp", "zero", "wrap", "mirror", got "border"', gpu.texture, x, {border = "border"})
    fails("for coordinates from 0 to 1: expected normalized = true", gpu.texture, x, {border = "wrap"})
    fails('[texture] filter: "linear" reads floats', gpu.texture, x:astype "uint8", {filter = "linear"})
    fails('[texture] read: "normalized" is for integers of 8 and 16 bits, got float32', gpu.texture, x, {read = "normalized"})
    fails("expected rows of a multiple of 32 bytes, got 20", gpu.texture, x, {memory = "array"})
    fails("expected a row-major array, got a strided view", gpu.texture, gpu.zeros({8, 8}, "float32"):transpose()("1:4"), {memory = "array"})
    fails("is read by tex1Dfetch, which has no filter", gpu.texture, gpu.zeros(8), {memory = "array", filter = "linear"})
    fails("[texture] expected the options", gpu.texture, x, {adress = "wrap"})
    fails("no derivative", function() gpu.grad(function(v) return gpu.texture(v):array():sum() end)(gpu.ones(3)) end)
  end)

  it("are refused where the kernel reads others", function()
    local k, out = kernel(), gpu.zeros(1)
    local image = gpu.zeros({4, 8}, "float32")
    local expected = "[read] argument 1 (t): expected a texture for tex2D<float>, which the kernel's source has, got "
    local function refused(text, texture) fails(expected .. text, k, texture, 1, 1, out) end
    refused("one for tex1D<float>", gpu.texture(gpu.zeros(8)))
    refused("one for tex2D<unsigned char>", gpu.texture(image:astype "uint8"))
    refused("one for tex2D<float4>", gpu.texture(image:reshape(4, 2, 4), {channels = 4}))
    refused("one for tex1DLayered<float>", gpu.texture(image, {layered = true}))
    refused("one for surf2Dread", gpu.texture(image):surface())
    fails("expected an integer for unsigned long long, got an array float32[4x8]; gpu.texture(x) makes a texture", k, image, 1, 1, out)
    fails("[k] argument 1 (x): expected a float32 array", gpu.kernel("__global__ void k(float* x) {}", "k"){grid = 1, block = 1},
      gpu.texture(image))
    k(gpu.texture(image:astype "uint8", {read = "normalized"}), 1, 1, out)
    if gpu.device().kind ~= "cpu" then return end
    local any = gpu.kernel([[template <class T> __device__ float get(cudaTextureObject_t t) { return tex2D<T>(t, 0, 0); }
      __global__ void any(cudaTextureObject_t t, float* out) { *out = get<float>(t); }]], "any"){grid = 1, block = 1}
    fails("reads the texture as a type that its elements do not have", any, gpu.texture(image:astype "uint8"), out)
    local both = gpu.kernel([[__global__ void both(cudaTextureObject_t a, cudaTextureObject_t b, float* out) {
      *out = tex1D<float>(a, 0) + tex2D<float>(b, 0, 0); }]], "both"){grid = 1, block = 1}
    fails("by a function for textures of another kind", both, gpu.texture(image), gpu.texture(gpu.zeros(8)), out)
  end)
end)
