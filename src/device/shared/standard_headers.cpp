#include "src/device/shared/standard_headers.h"

#include <array>

#include "standard_text.h"

namespace gpulua {
namespace {

constexpr std::array files{"algorithm",   "array",         "assert.h",     "cmath",
                           "complex.cuh", "float.h",       "functional",   "host_blas.h",
                           "host_mark.h", "host_stdlib.h", "host_types.h", "initializer_list",
                           "iterator",    "limits",        "limits.h",     "math.h",
                           "names.h",     "new",           "numeric",      "std.h",
                           "stdbool.h",   "stddef.h",      "stdint.h",     "stdio.h",
                           "stdlib.h",    "string",        "string.h",     "thrust_complex.h",
                           "time.h",      "tuple",         "type_traits",  "utility",
                           "vector"};

struct Row {
  std::string_view name;
  std::string_view file;
};

constexpr std::array rows{
    Row{"algorithm", "algorithm"},
    Row{"array", "array"},
    Row{"assert.h", "assert.h"},
    Row{"cassert", "assert.h"},
    Row{"cfloat", "float.h"},
    Row{"cinttypes", "stdint.h"},
    Row{"climits", "limits.h"},
    Row{"cmath", "cmath"},
    Row{"cstdbool", "stdbool.h"},
    Row{"cstddef", "stddef.h"},
    Row{"cstdint", "stdint.h"},
    Row{"cstdio", "stdio.h"},
    Row{"cstdlib", "host_stdlib.h"},
    Row{"cstring", "string.h"},
    Row{"ctime", "time.h"},
    Row{"cublas.h", "host_blas.h"},
    Row{"cublasLt.h", "host_blas.h"},
    Row{"cublas_v2.h", "host_blas.h"},
    Row{"cudnn.h", "host_types.h"},
    Row{"cufft.h", "host_types.h"},
    Row{"cufftXt.h", "host_types.h"},
    Row{"cusolverDn.h", "host_types.h"},
    Row{"cusolverSp.h", "host_types.h"},
    Row{"cusolver_common.h", "host_types.h"},
    Row{"cusparse.h", "host_types.h"},
    Row{"float.h", "float.h"},
    Row{"functional", "functional"},
    Row{"glob.h", "host_types.h"},
    Row{"initializer_list", "initializer_list"},
    Row{"inttypes.h", "stdint.h"},
    Row{"iterator", "iterator"},
    Row{"library_types.h", "host_types.h"},
    Row{"limits", "limits"},
    Row{"limits.h", "limits.h"},
    Row{"math.h", "math.h"},
    Row{"memory.h", "string.h"},
    Row{"nccl.h", "host_types.h"},
    Row{"new", "new"},
    Row{"numeric", "numeric"},
    Row{"pthread.h", "host_types.h"},
    Row{"semaphore.h", "host_types.h"},
    Row{"stdbool.h", "stdbool.h"},
    Row{"stddef.h", "stddef.h"},
    Row{"stdint.h", "stdint.h"},
    Row{"stdio.h", "stdio.h"},
    Row{"stdlib.h", "host_stdlib.h"},
    Row{"string", "string"},
    Row{"string.h", "string.h"},
    Row{"sys/time.h", "host_types.h"},
    Row{"sys/types.h", "host_types.h"},
    Row{"sys/un.h", "host_types.h"},
    Row{"thrust/complex.h", "thrust_complex.h"},
    Row{"time.h", "time.h"},
    Row{"tuple", "tuple"},
    Row{"type_traits", "type_traits"},
    Row{"utility", "utility"},
    Row{"vector", "vector"},
};

struct Texts {
  std::array<std::string, files.size()> names;
  std::array<StandardHeader, files.size() + rows.size()> headers;

  Texts() {
    for (std::size_t i = 0; i < files.size(); ++i) {
      names[i] = std::string("gpulua/") + files[i];
      headers[i] = {names[i], standard_text(files[i])};
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      headers[files.size() + i] = {rows[i].name, standard_text(rows[i].file)};
  }
};

}  // namespace

std::span<const StandardHeader> standard_headers() {
  static const Texts texts;
  return texts.headers;
}

std::span<const StandardHeader> public_headers() {
  return standard_headers().subspan(files.size());
}

}  // namespace gpulua
