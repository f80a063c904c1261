#include "src/device/cuda/cusolver_library.h"

#include <string>
#include <string_view>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"

namespace gpulua::cuda {

SolverLibrary load_cusolver(const Config& config) {
  // Its major version is one less than the toolkit's.
  const std::string_view names[] = {"libcusolver.so.12", "libcusolver.so.11"};
  const auto file = find_cuda_library(config, names);
  if (!file)
    throw Error(ErrorKind::unavailable,
                "[linalg] libcusolver was not found (looked in the loader's path, CUDA_HOME, /usr/local/cuda and pip's "
                "nvidia packages); install it: e.g. apt-get install libcusolver-13-0, or pip install nvidia-cusolver, "
                "or set CUDA_HOME");
  std::string why;
  const DynamicLibrary library = DynamicLibrary::open(*file, why);
  if (!library) throw Error(ErrorKind::unavailable, "[linalg] libcusolver could not be loaded: {}", why);
  SolverLibrary result;
  const auto find = [&]<class Function>(Function& function, const std::string& symbol) {
    function = reinterpret_cast<Function>(library.symbol(symbol.c_str()));
    if (function == nullptr)
      throw Error(ErrorKind::unavailable, "[linalg] expected cuSOLVER of CUDA 12.8 or later, got {}, which has no {}",
                  file->string(), symbol);
  };
#define GPULUA_CUSOLVER_LOAD(member, function) find(result.call.member, #function);
  GPULUA_CUSOLVER_FUNCTIONS(GPULUA_CUSOLVER_LOAD)
#undef GPULUA_CUSOLVER_LOAD
  const auto find_typed = [&](SolverFunctions& routines, char type, const char* orthogonal) {
    const std::string prefix = std::string("cusolverDn") + type;
    find(routines.cholesky_batch, prefix + "potrfBatched");
    find(routines.singular_batch_size, prefix + "gesvdjBatched_bufferSize");
    find(routines.singular_batch, prefix + "gesvdjBatched");
    find(routines.orthogonal_size, prefix + orthogonal + "_bufferSize");
    find(routines.orthogonal, prefix + orthogonal);
  };
  find_typed(result.of_float, 'S', "orgqr"), find_typed(result.of_double, 'D', "orgqr");
  find_typed(result.of_complex, 'C', "ungqr"), find_typed(result.of_double_complex, 'Z', "ungqr");
  return result;
}

void check_cusolver(cusolverStatus_t status) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  const ErrorKind kind = status == CUSOLVER_STATUS_ALLOC_FAILED    ? ErrorKind::memory
                         : status == CUSOLVER_STATUS_INVALID_VALUE ? ErrorKind::argument
                         : status == CUSOLVER_STATUS_ARCH_MISMATCH || status == CUSOLVER_STATUS_NOT_SUPPORTED
                             ? ErrorKind::unavailable
                             : ErrorKind::device;
  throw Error(kind, "[linalg] cuSOLVER failed with its status {}", static_cast<int>(status));
}

}  // namespace gpulua::cuda
