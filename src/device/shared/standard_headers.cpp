#include "src/device/shared/standard_headers.h"

#include <array>

#include "standard_text.h"

namespace gpulua {
namespace {

constexpr std::array files{"algorithm",
                           "array",
                           "assert.h",
                           "cmath",
                           "complex.cuh",
                           "dependent_launch.h",
                           "float.h",
                           "functional",
                           "host_blas.h",
                           "host_containers.h",
                           "host_driver.h",
                           "host_errors.h",
                           "host_mark.h",
                           "host_objects.h",
                           "host_stdlib.h",
                           "host_streams.h",
                           "host_types.h",
                           "host_unistd.h",
                           "initializer_list",
                           "iterator",
                           "limits",
                           "limits.h",
                           "math.h",
                           "names.h",
                           "new",
                           "numeric",
                           "std.h",
                           "stdbool.h",
                           "stdc++.h",
                           "stddef.h",
                           "stdint.h",
                           "stdio.h",
                           "stdlib.h",
                           "string",
                           "string.h",
                           "thrust_complex.h",
                           "time.h",
                           "tuple",
                           "type_traits",
                           "utility",
                           "vector"};

struct Row {
  std::string_view name;
  std::string_view file;
};

constexpr std::array rows{
    Row{"algorithm", "algorithm"},
    Row{"array", "array"},
    Row{"assert.h", "assert.h"},
    Row{"atomic", "host_objects.h"},
    Row{"bits/stdc++.h", "stdc++.h"},
    Row{"cassert", "assert.h"},
    Row{"cfloat", "float.h"},
    Row{"cinttypes", "stdint.h"},
    Row{"chrono", "host_objects.h"},
    Row{"climits", "limits.h"},
    Row{"cmath", "cmath"},
    Row{"condition_variable", "host_objects.h"},
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
    Row{"cuda.h", "host_driver.h"},
    Row{"cudnn.h", "host_types.h"},
    Row{"cufft.h", "host_types.h"},
    Row{"cufftXt.h", "host_types.h"},
    Row{"cusolverDn.h", "host_types.h"},
    Row{"cusolverSp.h", "host_types.h"},
    Row{"cusolver_common.h", "host_types.h"},
    Row{"cusparse.h", "host_types.h"},
    Row{"deque", "host_containers.h"},
    Row{"exception", "host_errors.h"},
    Row{"float.h", "float.h"},
    Row{"forward_list", "host_containers.h"},
    Row{"fstream", "host_streams.h"},
    Row{"functional", "functional"},
    Row{"glob.h", "host_types.h"},
    Row{"helper_cuda.h", "host_types.h"},
    Row{"helper_functions.h", "host_types.h"},
    Row{"helper_timer.h", "host_types.h"},
    Row{"initializer_list", "initializer_list"},
    Row{"inttypes.h", "stdint.h"},
    Row{"iomanip", "host_streams.h"},
    Row{"ios", "host_streams.h"},
    Row{"iosfwd", "host_streams.h"},
    Row{"iostream", "host_streams.h"},
    Row{"istream", "host_streams.h"},
    Row{"iterator", "iterator"},
    Row{"library_types.h", "host_types.h"},
    Row{"limits", "limits"},
    Row{"limits.h", "limits.h"},
    Row{"list", "host_containers.h"},
    Row{"map", "host_containers.h"},
    Row{"math.h", "math.h"},
    Row{"memory", "host_objects.h"},
    Row{"memory.h", "string.h"},
    Row{"mutex", "host_objects.h"},
    Row{"nccl.h", "host_types.h"},
    Row{"new", "new"},
    Row{"numeric", "numeric"},
    Row{"optional", "host_objects.h"},
    Row{"ostream", "host_streams.h"},
    Row{"pthread.h", "host_types.h"},
    Row{"queue", "host_containers.h"},
    Row{"semaphore.h", "host_types.h"},
    Row{"set", "host_containers.h"},
    Row{"sstream", "host_streams.h"},
    Row{"stack", "host_containers.h"},
    Row{"stdbool.h", "stdbool.h"},
    Row{"stddef.h", "stddef.h"},
    Row{"stdexcept", "host_errors.h"},
    Row{"stdint.h", "stdint.h"},
    Row{"stdio.h", "stdio.h"},
    Row{"stdlib.h", "host_stdlib.h"},
    Row{"string", "string"},
    Row{"string.h", "string.h"},
    Row{"sys/time.h", "host_types.h"},
    Row{"sys/types.h", "host_types.h"},
    Row{"sys/un.h", "host_types.h"},
    Row{"thread", "host_objects.h"},
    Row{"thrust/complex.h", "thrust_complex.h"},
    Row{"time.h", "time.h"},
    Row{"tuple", "tuple"},
    Row{"type_traits", "type_traits"},
    Row{"unistd.h", "host_unistd.h"},
    Row{"unordered_map", "host_containers.h"},
    Row{"unordered_set", "host_containers.h"},
    Row{"utility", "utility"},
    Row{"vector", "vector"},
    Row{"wchar.h", "stddef.h"},
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
