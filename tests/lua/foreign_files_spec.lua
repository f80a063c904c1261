-- Whole files of other people's programs: classes of C++ for host code, types of CUDA's runtime, and what nvcc takes beyond C++.
local gpu = require "gpu"

local function run(source, out, options)
  gpu.kernel(source, "k", options or {}) { grid = 1, block = 32 }(out)
  return out:table()
end

describe("files of other people", function()
  it("have members, bases and results of C++'s library in their host code", function()
    assert.are.same({ 42 }, run([[
      #include <atomic>
      #include <fstream>
      #include <functional>
      #include <iostream>
      #include <map>
      #include <memory>
      #include <mutex>
      #include <optional>
      #include <set>
      #include <sys/syscall.h>
      #include <stdexcept>
      #include <unordered_map>
      struct Failure : public std::runtime_error { explicit Failure(const std::string& why) : std::runtime_error(why) {} };
      struct Plan {
        std::map<std::string, int> sizes;
        std::unordered_map<int, std::vector<float>> rows;
        std::set<int> kept;
        std::shared_ptr<Plan> next;
        std::unique_ptr<float[]> buffer;
        std::function<int(const Plan&, float)> call;
        std::optional<int> limit = std::nullopt;
        std::mutex lock;
        std::atomic<int> users;
        std::tuple<int, float> rate = std::make_tuple(1, 2.0f);
        std::ofstream log;
        int size(const std::string& name) const { return sizes.find(name) != sizes.end() ? sizes.at(name) : 0; }
        void add(const std::string& name) { std::lock_guard<std::mutex> held(lock); sizes[name] = 1; kept.insert(2); }
        void show() { std::cout << "size " << kept.size() << std::endl; log.open("log"); }
      };
      __global__ void k(int* out) { if (threadIdx.x == 0) out[0] = 42; }]], gpu.zeros(1, "int32")))
  end)

  it("have types and numbers of CUDA's runtime and driver", function()
    assert.are.same({ 1, 1, 3, 64, 6, 128 }, run([[
      #include <cuda.h>
      #include <cuda_runtime.h>
      struct Plan {
        cudaArray_t array; cudaChannelFormatDesc channels; cudaResourceDesc resource; cudaTextureDesc texture;
        cudaIpcMemHandle_t handle; cudaGraphNode_t node; cudaMemPool_t pool; cudaLaunchConfig_t launch;
        cudaLaunchAttribute attributes[2]; cudaDeviceProp properties; CUdeviceptr address; CUtexObject object;
        void copy(cudaMemcpyKind kind = cudaMemcpyDeviceToHost, unsigned flags = cudaStreamNonBlocking);
      };
      __global__ void k(int* out) {
        if (threadIdx.x != 0) return;
        out[0] = cudaStreamNonBlocking; out[1] = cudaMemcpyHostToDevice; out[2] = cudaResourceTypePitch2D;
        out[3] = sizeof(cudaIpcMemHandle_t); out[4] = cudaLaunchAttributeProgrammaticStreamSerialization;
        out[5] = alignof(CUtensorMap);
      }]], gpu.zeros(6, "int32")))
  end)

  it("open a brace in each branch of a condition", function()
    assert.are.same({ 7 }, run([[
      namespace plans {
      template <class T> void launch(Unheard of) {
      #ifdef WIDE
        if (of.wide) {
      #else
        if (of.narrow) {
      #endif
          start<<<1, 1>>>();
        }
      }
      __device__ int seven() { return 7; }
      }  // namespace plans
      __global__ void k(int* out) { if (threadIdx.x == 0) out[0] = plans::seven(); }]], gpu.zeros(1, "int32")))
  end)

  it("have assembly and alignments as nvcc takes them, also in files of a folder", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert.are.equal(0, os.execute("mkdir -p " .. folder))
    local file = assert(io.open(folder .. "/lanes.h", "w"))
    file:write [[
      __device__ int lane() { int lane; asm volatile("mov.u32 %0, %laneid;" : "=r"(lane)); return lane; }
      __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }
      __device__ short half_of(float x) { short r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }]]
    file:close()
    local got = run([[
      #include "lanes.h"
      extern __device__ __device_builtin__ void __syncthreads(void);
      extern __device__ __device_builtin__ void __threadfence(void);
      struct __device_builtin__ Cell { int value; };
      __global__ void k(int* out) {
        __shared__ alignas(64) Cell cells[32];
        cells[31 - lane()].value = sum(lane(), 100);
        __threadfence();
        __syncthreads();
        out[threadIdx.x] = cells[threadIdx.x].value + (half_of(1) - 0x3c00) + (int)((size_t)cells % 64);
      }]], gpu.zeros(32, "int32"), { include = { folder } })
    os.execute("rm -r " .. folder)
    for i = 1, 32 do assert.are.equal(132 - i, got[i]) end
  end)

  it("take pairs of halves apart", function()
    assert.are.same({ 0x3c00, 0x4000, 2, 0x3f80, 0xc000, -2 }, run([[
      #include <cuda_bf16.h>
      #include <cuda_fp16.h>
      __global__ void k(int* out) {
        __half2_raw half = __half2(__float2half(1), __float2half(2));
        __nv_bfloat162_raw bfloat = __nv_bfloat162(__float2bfloat16(1), __float2bfloat16(-2));
        out[0] = half.x; out[1] = half.y; out[2] = (int)__half2float(__half2(half).y);
        out[3] = bfloat.x; out[4] = bfloat.y; out[5] = (int)__bfloat162float(__nv_bfloat162(bfloat).y);
      }]], gpu.zeros(6, "int32")))
  end)

  it("use tuples without their header", function()
    assert.are.same({ 5 }, run([[
      __device__ auto parts() { return std::make_tuple(2, 3); }
      __global__ void k(int* out) { auto [a, b] = parts(); if (threadIdx.x == 0) out[0] = a + b; }]], gpu.zeros(1, "int32")))
  end)

  it("wait for the kernel ahead of them", function()
    local x = gpu.zeros(32, "int32")
    local mod = gpu.module [[
      __global__ void k(int* x) {
        cudaGridDependencySynchronize();
        x[threadIdx.x] += threadIdx.x;
        cudaTriggerProgrammaticLaunchCompletion();
      }]]
    mod.k { grid = 1, block = 32 }(x)
    mod.k { grid = 1, block = 32 }(x)
    for i, value in ipairs(x:table()) do assert.are.equal(2 * (i - 1), value) end
  end)
end)

describe("clusters of one block", function()
  it("are the block", function()
    local got = run([[
      #include <cooperative_groups.h>
      __global__ void __cluster_dims__(1, 1, 1) k(int* out) {
        __shared__ int cells[32];
        auto cluster = cooperative_groups::this_cluster();
        cells[threadIdx.x] = threadIdx.x;
        cluster.sync();
        cluster.barrier_arrive();
        cluster.barrier_wait();
        int* other = cluster.map_shared_rank(cells, 0);
        out[cluster.thread_rank()] = other[31 - threadIdx.x] + 100 * cluster.num_blocks() + cluster.block_rank();
      }]], gpu.zeros(32, "int32"))
    for i = 1, 32 do assert.are.equal(132 - i, got[i]) end
  end)

  it("are all that the cpu device has", function()
    if gpu.device().kind ~= "cpu" then return end
    local ok, message = pcall(gpu.module, "__global__ void __cluster_dims__(2) k(int* x) { x[0] = 1; }")
    assert.is_false(ok)
    assert.is_truthy(tostring(message):find("this_device_has_clusters_of_one_block_alone", 1, true), message)
  end)
end)
