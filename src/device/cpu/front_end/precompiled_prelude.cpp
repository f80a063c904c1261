#include "src/device/cpu/front_end/precompiled_prelude.h"

#include <algorithm>
#include <array>

#include "src/device/cpu/ir/embed.h"

#define GPULUA_EMBED_PRELUDE(name, standard)            \
  GPULUA_EMBED(gpulua_##name##_header, standard ".pch") \
  GPULUA_EMBED(gpulua_##name##_macros, standard ".macros")

GPULUA_EMBED_PRELUDE(cxx11, "c++11")
GPULUA_EMBED_PRELUDE(cxx14, "c++14")
GPULUA_EMBED_PRELUDE(cxx17, "c++17")
GPULUA_EMBED_PRELUDE(cxx20, "c++20")
GPULUA_EMBED_PRELUDE(fp16, "c++17-fp16")
GPULUA_EMBED_PRELUDE(bf16, "c++17-bf16")
GPULUA_EMBED_PRELUDE(fp16_bf16, "c++17-fp16-bf16")

namespace gpulua::cpu {
namespace {

struct Row {
  std::string_view standard;
  std::vector<std::string_view> headers;
  PrecompiledPrelude prelude;
};

// clang-format off
#define GPULUA_TEXTS(name)                             \
  {{gpulua_##name##_header, gpulua_##name##_header_end}, \
   {gpulua_##name##_macros, gpulua_##name##_macros_end}}
// clang-format on

// The more headers a row has, the further behind it stands.
const std::array rows{
    Row{"c++11", {}, GPULUA_TEXTS(cxx11)},
    Row{"c++14", {}, GPULUA_TEXTS(cxx14)},
    Row{"c++17", {}, GPULUA_TEXTS(cxx17)},
    Row{"c++20", {}, GPULUA_TEXTS(cxx20)},
    Row{"c++17", {"cuda_fp16.h"}, GPULUA_TEXTS(fp16)},
    Row{"c++17", {"cuda_bf16.h"}, GPULUA_TEXTS(bf16)},
    Row{"c++17", {"cuda_fp16.h", "cuda_bf16.h"}, GPULUA_TEXTS(fp16_bf16)},
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

}  // namespace gpulua::cpu
