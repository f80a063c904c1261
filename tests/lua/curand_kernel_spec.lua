-- curand_kernel.h against cuRAND's numbers (tests/golden/curand): integers and uniform numbers exactly, normal ones to what the
-- functions allow that they are made with.
local gpu = require "gpu"
local support = require "support"
local folder = (debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or ".") .. "/../golden/curand"
local expected = dofile(folder .. "/numbers.lua")
local threads = #expected.xorwow_integers

-- A table of numbers.lua, the function of numbers.h that makes its rows, and how far a number may be off, as a part of 1 or more.
local cases = {}
local function add(table_name, call, dtype, tolerance)
  cases[#cases + 1] = { name = table_name, call = call, dtype = dtype, tolerance = tolerance, count = #expected[table_name][1] }
end
for generator, state in pairs {
  xorwow = "curandState", philox = "curandStatePhilox4_32_10_t", mrg32k3a = "curandStateMRG32k3a_t",
} do
  add(generator .. "_host", ("first_numbers<%s, %d>"):format(state, #expected[generator .. "_host"][1]), "uint32")
  add(generator .. "_integers", ("integers<%s>"):format(state), "uint32")
  add(generator .. "_uniforms", ("uniforms<%s>"):format(state), "float64")
  add(generator .. "_normals", ("normals<%s>"):format(state), "float64", 4e-6) -- a GPU takes the fast sine and cosine
  add(generator .. "_normal_doubles", ("normal_doubles<%s>"):format(state), "float64", 1e-14)
  add(generator .. "_poissons", ("poissons<%s>"):format(state), "uint32")
end
add("mrg32k3a_subsequences", "subsequences", "uint32")
add("philox_fours", "fours", "float64", 4e-6)
add("philox_four_doubles", "four_doubles", "float64", 1e-14)
add("philox_poisson_fours", "poisson_fours", "uint32")

-- Columns of means from 64 to 4000, for which the last bits of a logarithm decide whether a candidate is accepted.
local undecided = { poissons = { 16, 35 }, philox_poisson_fours = { 9, 16 } }
local function is_undecided(name, column)
  local range = undecided[name] or undecided[name:match "_(%w+)$"]
  return range and column >= range[1] and column <= range[2]
end

local function source()
  local file = assert(io.open(folder .. "/numbers.h"))
  local parts = { "#include <curand_kernel.h>\n", file:read "*a", [[
    template <class State, int count> __device__ void first_numbers(int i, unsigned int* out) {
      State s;
      curand_init(1234ull, i, 0ull, &s);
      for (int k = 0; k < count; ++k) out[k] = curand(&s);
    }
  ]] }
  file:close()
  for _, case in ipairs(cases) do
    parts[#parts + 1] = ("__global__ void %s(%s* out) { %s(threadIdx.x, out + threadIdx.x * %d); }\n"):format(case.name,
      case.dtype == "uint32" and "unsigned int" or "double", case.call, case.count)
  end
  return table.concat(parts)
end

describe("curand_kernel.h", function()
  local module
  setup(function() module = gpu.module(source()) end)
  for _, case in ipairs(cases) do
    it("gives cuRAND's " .. case.name, function()
      local out = gpu.zeros(threads * case.count, case.dtype)
      module[case.name] { grid = 1, block = threads }(out)
      local got, apart, loose = out:table(), 0, 0
      for thread, row in ipairs(expected[case.name]) do
        for column, number in ipairs(row) do
          local mine = got[(thread - 1) * case.count + column]
          if is_undecided(case.name, column) then
            loose, apart = loose + 1, apart + (mine == number and 0 or 1)
          else
            support.near(number, mine, case.tolerance or 0, ("thread %d, number %d"):format(thread, column))
          end
        end
      end
      assert.is_true(apart <= 0.03 * loose)
    end)
  end
end)
