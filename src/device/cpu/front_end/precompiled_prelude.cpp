#include "src/device/cpu/front_end/precompiled_prelude.h"

#include <algorithm>
#include <array>

#include "precompiled_file.h"

namespace gpulua::cpu {
namespace {

struct Row {
  std::string_view standard;
  std::vector<std::string_view> headers;
  PrecompiledPrelude prelude;
};

PrecompiledPrelude files(const std::string& name) {
  return {precompiled_file(name + ".pch"), precompiled_file(name + ".macros")};
}

// A row with more headers comes after those with fewer.
const std::array rows{
    Row{"c++11", {}, files("c++11")},
    Row{"c++14", {}, files("c++14")},
    Row{"c++17", {}, files("c++17")},
    Row{"c++20", {}, files("c++20")},
    Row{"c++17", {"cuda_fp16.h"}, files("c++17-fp16")},
    Row{"c++17", {"cuda_bf16.h"}, files("c++17-bf16")},
    Row{"c++17", {"cuda_fp16.h", "cuda_bf16.h"}, files("c++17-fp16-bf16")},
};

bool includes_all(const std::vector<std::string_view>& all, const std::vector<std::string_view>& some) {
  return std::all_of(some.begin(), some.end(),
                     [&](std::string_view name) { return std::find(all.begin(), all.end(), name) != all.end(); });
}

}  // namespace

const PrecompiledPrelude* precompiled_prelude(std::string_view standard, const std::vector<std::string_view>& headers,
                                              std::string_view clang_version) {
  const PrecompiledPrelude* found = nullptr;
  for (const Row& row : rows)
    if (row.standard == standard && includes_all(headers, row.headers) &&
        row.prelude.macros.starts_with(version_line(clang_version)))
      found = &row.prelude;
  return found;
}

const PrecompiledPrelude* precompiled_kernels(std::string_view clang_version) {
  static const PrecompiledPrelude prelude = files("c++17-kernels");
  return prelude.macros.starts_with(version_line(clang_version)) ? &prelude : nullptr;
}

}  // namespace gpulua::cpu
