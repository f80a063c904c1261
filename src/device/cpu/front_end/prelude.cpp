#include "src/device/cpu/front_end/prelude.h"

#include <array>
#include <vector>

#include "prelude_text.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua::cpu {
namespace {

struct Row {
  std::string_view name;
  std::string_view file;  // of src/device/cpu/headers; the text for the name
};

constexpr std::array rows{
    Row{"gpulua_cpu.h", "gpulua_cpu.h"},
    Row{"gpulua_abi.h", "abi.h"},
    Row{"gpulua_textures.h", "gpulua_textures.h"},
    Row{"gpulua_thread.h", "gpulua_thread.h"},
    Row{"gpulua_libc.h", "gpulua_libc.h"},
    Row{"gpulua_math.h", "gpulua_math.h"},
    Row{"gpulua_special.h", "gpulua_special.h"},
    Row{"gpulua_conversions.h", "gpulua_conversions.h"},
    Row{"gpulua_rare.h", "gpulua_rare.h"},
    Row{"gpulua_rounding.h", "gpulua_rounding.h"},
    Row{"gpulua_runtime_types.h", "gpulua_runtime_types.h"},
    Row{"gpulua_bits.h", "gpulua_bits.h"},
    Row{"gpulua_words.h", "gpulua_words.h"},
    Row{"gpulua_dpx.h", "gpulua_dpx.h"},
    Row{"gpulua_matrices.h", "gpulua_matrices.h"},
    Row{"gpulua_ptx.h", "gpulua_ptx.h"},
    Row{"gpulua_ptx_halves.h", "gpulua_ptx_halves.h"},
    Row{"gpulua_intrinsics.h", "gpulua_intrinsics.h"},
    Row{"gpulua_small_float.h", "gpulua_small_float.h"},
    Row{"gpulua_generators.h", "gpulua_generators.h"},
    Row{"gpulua_xorwow_jumps.h", "gpulua_xorwow_jumps.h"},
    Row{"gpulua_new.h", "gpulua_new.h"},
    Row{"gpulua_atomics.h", "gpulua_atomics.h"},
    Row{"gpulua_ordered_atomics.h", "gpulua_ordered_atomics.h"},
    Row{"gpulua_sync.h", "gpulua_sync.h"},
    Row{"gpulua_engine.h", "gpulua_engine.h"},
    Row{"gpulua_run.h", "gpulua_run.h"},
    Row{"gpulua_warps.h", "gpulua_warps.h"},
    Row{"cooperative_groups.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/async.h", "cooperative_groups_memcpy_async.h"},
    Row{"cooperative_groups/details/coalesced_reduce.h", "cooperative_groups_reduce.h"},
    Row{"cooperative_groups/details/coalesced_scan.h", "cooperative_groups_scan.h"},
    Row{"cooperative_groups/details/driver_abi.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/functional.h", "cooperative_groups_reduce.h"},
    Row{"cooperative_groups/details/helpers.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/info.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/invoke.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/memory.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/partitioning.h", "cooperative_groups.h"},
    Row{"cooperative_groups/details/reduce.h", "cooperative_groups_reduce.h"},
    Row{"cooperative_groups/details/scan.h", "cooperative_groups_scan.h"},
    Row{"cooperative_groups/details/sync.h", "cooperative_groups.h"},
    Row{"cooperative_groups/memcpy_async.h", "cooperative_groups_memcpy_async.h"},
    Row{"cooperative_groups/reduce.h", "cooperative_groups_reduce.h"},
    Row{"cooperative_groups/scan.h", "cooperative_groups_scan.h"},
    Row{"gpulua_cub_neighbours.h", "gpulua_cub_neighbours.h"},
    Row{"gpulua_cub_threads.h", "gpulua_cub_threads.h"},
    Row{"cub/block/block_adjacent_difference.cuh", "cub.h"},
    Row{"cub/block/block_discontinuity.cuh", "cub.h"},
    Row{"cub/block/block_exchange.cuh", "cub.h"},
    Row{"cub/block/block_load.cuh", "cub.h"},
    Row{"cub/block/block_radix_sort.cuh", "cub.h"},
    Row{"cub/block/block_reduce.cuh", "cub.h"},
    Row{"cub/block/block_scan.cuh", "cub.h"},
    Row{"cub/block/block_store.cuh", "cub.h"},
    Row{"cub/cub.cuh", "cub.h"},
    Row{"cub/thread/thread_load.cuh", "cub.h"},
    Row{"cub/thread/thread_operators.cuh", "cub.h"},
    Row{"cub/thread/thread_store.cuh", "cub.h"},
    Row{"cub/util_ptx.cuh", "cub.h"},
    Row{"cub/util_type.cuh", "cub.h"},
    Row{"cub/warp/warp_reduce.cuh", "cub.h"},
    Row{"cub/warp/warp_scan.cuh", "cub.h"},
    Row{"cuComplex.h", "cuComplex.h"},
    Row{"cuda/atomic", "cuda_atomic.h"},
    Row{"cuda/barrier", "cuda_barrier.h"},
    Row{"cuda/functional", "cuda_std.h"},
    Row{"cuda/pipeline", "cuda_barrier.h"},
    Row{"cuda/std/array", "cuda_std.h"},
    Row{"cuda/std/atomic", "cuda_atomic.h"},
    Row{"cuda/std/bit", "cuda_std.h"},
    Row{"cuda/std/cassert", "cuda_std.h"},
    Row{"cuda/std/cfloat", "cuda_std.h"},
    Row{"cuda/std/climits", "cuda_std.h"},
    Row{"cuda/std/cmath", "cuda_std.h"},
    Row{"cuda/std/complex", "cuda_std_complex.h"},
    Row{"cuda/std/cstddef", "cuda_std.h"},
    Row{"cuda/std/cstdint", "cuda_std.h"},
    Row{"cuda/std/functional", "cuda_std.h"},
    Row{"cuda/std/initializer_list", "cuda_std.h"},
    Row{"cuda/std/iterator", "cuda_std.h"},
    Row{"cuda/std/limits", "cuda_std.h"},
    Row{"cuda/std/numeric", "cuda_std.h"},
    Row{"cuda/std/optional", "cuda_std.h"},
    Row{"cuda/std/span", "cuda_std.h"},
    Row{"cuda/std/tuple", "cuda_std.h"},
    Row{"cuda/std/type_traits", "cuda_std.h"},
    Row{"cuda/std/utility", "cuda_std.h"},
    Row{"cuda/std/version", "cuda_std.h"},
    Row{"cuda_bf16.h", "cuda_bf16.h"},
    Row{"cuda_fp16.h", "cuda_fp16.h"},
    Row{"cuda_fp4.h", "cuda_fp6.h"},
    Row{"cuda_fp6.h", "cuda_fp6.h"},
    Row{"cuda_fp8.h", "cuda_fp8.h"},
    Row{"cuda_runtime.h", "empty.h"},
    Row{"cuda_runtime_api.h", "empty.h"},
    Row{"cuda_profiler_api.h", "empty.h"},
    Row{"curand.h", "curand_kernel.h"},
    Row{"curand_kernel.h", "curand_kernel.h"},
    Row{"device_functions.h", "empty.h"},
    Row{"device_launch_parameters.h", "empty.h"},
    Row{"driver_types.h", "empty.h"},
    Row{"math_constants.h", "math_constants.h"},
    Row{"math_functions.h", "empty.h"},
    Row{"builtin_types.h", "empty.h"},
    Row{"mma.h", "mma.h"},
    Row{"sm_20_intrinsics.h", "empty.h"},
    Row{"sm_30_intrinsics.h", "empty.h"},
    Row{"sm_35_intrinsics.h", "empty.h"},
    Row{"sm_61_intrinsics.h", "empty.h"},
    Row{"vector_functions.h", "empty.h"},
    Row{"vector_types.h", "vector_types.h"},
};

}  // namespace

std::span<const PreludeHeader> prelude_headers() {
  static const auto headers = [] {
    std::vector<PreludeHeader> result;
    for (const Row& row : rows) result.push_back({row.name, prelude_text(row.file)});
    for (const StandardHeader& header : standard_headers()) result.push_back({header.name, header.text});
    return result;
  }();
  return headers;
}

}  // namespace gpulua::cpu
