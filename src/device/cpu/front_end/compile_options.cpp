#include "src/device/cpu/front_end/compile_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "src/base/error.h"

namespace gpulua::cpu {
namespace {

enum class Meaning {
  ignored,
  define,
  undefine,
  include_dir,
  forced_include,
  standard,
  fast_math,
  contract,
  engine,
  default_device
};
enum class Value {
  none,      // --use_fast_math
  required,  // -DX, -D X, --std=c++17, --std c++17
  optional,  // --extra-device-vectorization, --restrict=true
};

struct Row {
  std::string_view name;
  Meaning meaning;
  Value value;
};

constexpr std::array rows{
    Row{"--define-macro", Meaning::define, Value::required},
    Row{"--undefine-macro", Meaning::undefine, Value::required},
    Row{"--include-path", Meaning::include_dir, Value::required},
    Row{"--pre-include", Meaning::forced_include, Value::required},
    Row{"--std", Meaning::standard, Value::required},
    Row{"-std", Meaning::standard, Value::required},
    Row{"--use_fast_math", Meaning::fast_math, Value::optional},
    Row{"-use_fast_math", Meaning::fast_math, Value::optional},
    Row{"--fmad", Meaning::contract, Value::required},
    Row{"-fmad", Meaning::contract, Value::required},
    Row{"--engine", Meaning::engine, Value::required},
    Row{"--device-as-default-execution-space", Meaning::default_device, Value::none},
    Row{"-default-device", Meaning::default_device, Value::none},
    Row{"--gpu-architecture", Meaning::ignored, Value::required},
    Row{"-arch", Meaning::ignored, Value::required},
    Row{"--maxrregcount", Meaning::ignored, Value::required},
    Row{"-maxrregcount", Meaning::ignored, Value::required},
    Row{"--ftz", Meaning::ignored, Value::required},
    Row{"-ftz", Meaning::ignored, Value::required},
    Row{"--prec-sqrt", Meaning::ignored, Value::required},
    Row{"-prec-sqrt", Meaning::ignored, Value::required},
    Row{"--prec-div", Meaning::ignored, Value::required},
    Row{"-prec-div", Meaning::ignored, Value::required},
    Row{"--relocatable-device-code", Meaning::ignored, Value::required},
    Row{"-rdc", Meaning::ignored, Value::required},
    Row{"--device-debug", Meaning::ignored, Value::none},
    Row{"-G", Meaning::ignored, Value::none},
    Row{"--generate-line-info", Meaning::ignored, Value::none},
    Row{"-lineinfo", Meaning::ignored, Value::none},
    Row{"--device-c", Meaning::ignored, Value::none},
    Row{"-dc", Meaning::ignored, Value::none},
    Row{"--device-w", Meaning::ignored, Value::none},
    Row{"-dw", Meaning::ignored, Value::none},
    Row{"--dlink-time-opt", Meaning::ignored, Value::none},
    Row{"-dlto", Meaning::ignored, Value::none},
    Row{"--device-int128", Meaning::ignored, Value::none},
    Row{"-device-int128", Meaning::ignored, Value::none},
    Row{"--extra-device-vectorization", Meaning::ignored, Value::optional},
    Row{"-extra-device-vectorization", Meaning::ignored, Value::optional},
    Row{"--restrict", Meaning::ignored, Value::optional},
    Row{"-restrict", Meaning::ignored, Value::optional},
    Row{"--dopt", Meaning::ignored, Value::required},
    Row{"-dopt", Meaning::ignored, Value::required},
    Row{"--disable-warnings", Meaning::ignored, Value::none},
    Row{"-w", Meaning::ignored, Value::none},
    Row{"--diag-suppress", Meaning::ignored, Value::required},
    Row{"-diag-suppress", Meaning::ignored, Value::required},
    Row{"--no-source-include", Meaning::ignored, Value::none},
    Row{"-no-source-include", Meaning::ignored, Value::none},
    Row{"--expt-relaxed-constexpr", Meaning::ignored, Value::none},
    Row{"-expt-relaxed-constexpr", Meaning::ignored, Value::none},
    Row{"--expt-extended-lambda", Meaning::ignored, Value::none},
    Row{"--extended-lambda", Meaning::ignored, Value::none},
    Row{"-extended-lambda", Meaning::ignored, Value::none},
    Row{"--builtin-move-forward", Meaning::ignored, Value::required},
    Row{"--builtin-initializer-list", Meaning::ignored, Value::required},
    // Letters take a value without a separator, so they come last.
    Row{"-D", Meaning::define, Value::required},
    Row{"-U", Meaning::undefine, Value::required},
    Row{"-I", Meaning::include_dir, Value::required},
};

bool is_letter(const Row& row) {
  return row.name.size() == 2 && row.value == Value::required;
}

/// The row of `option`, and the value after "=" or after the letter.
std::optional<std::pair<Row, std::optional<std::string>>> find_row(std::string_view option) {
  for (const Row& row : rows) {
    if (!option.starts_with(row.name)) continue;
    std::string_view rest = option.substr(row.name.size());
    if (rest.empty()) return std::pair{row, std::optional<std::string>{}};
    if (is_letter(row)) return std::pair{row, std::optional<std::string>{rest}};
    if (rest.front() == '=' && row.value != Value::none)
      return std::pair{row, std::optional<std::string>{rest.substr(1)}};
  }
  return std::nullopt;
}

bool parse_boolean(std::string_view option, std::string_view value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  throw Error("[compile] expected true or false for the option {}, got '{}'", option, value);
}

EngineChoice parse_engine(const std::string& value) {
  if (value == "fastest") return EngineChoice::fastest;
  if (value == "scalar") return EngineChoice::scalar;
  if (value == "simd") return EngineChoice::simd;
  throw Error("[compile] expected the engine to be fastest, scalar or simd, got '{}'", value);
}

std::string parse_standard(const std::string& value) {
  constexpr std::array known{"c++11", "c++14", "c++17", "c++20"};
  if (std::find(known.begin(), known.end(), value) != known.end()) return value;
  throw Error("[compile] expected the standard to be c++11, c++14, c++17 or c++20, got '{}'", value);
}

}  // namespace

CompileOptions parse_options(std::span<const std::string> options) {
  CompileOptions result;
  for (std::size_t i = 0; i < options.size(); ++i) {
    auto found = find_row(options[i]);
    if (!found)
      throw Error(
          "[compile] unknown option '{}'; the cpu device takes NVRTC's options: -D, -U, -I, --std, --use_fast_math, "
          "--fmad and those that only matter to a GPU",
          options[i]);
    auto& [row, text] = *found;
    if (!text && row.value == Value::required) {
      if (++i == options.size()) throw Error("[compile] expected a value after the option '{}'", options[i - 1]);
      text = options[i];
    }
    std::string value = text.value_or("true");
    switch (row.meaning) {
      case Meaning::ignored:
        break;
      case Meaning::define:
        result.macros.emplace_back(value, false);
        break;
      case Meaning::undefine:
        result.macros.emplace_back(value, true);
        break;
      case Meaning::include_dir:
        result.include_dirs.push_back(value);
        break;
      case Meaning::forced_include:
        result.forced_includes.push_back(value);
        break;
      case Meaning::standard:
        result.standard = parse_standard(value);
        break;
      case Meaning::fast_math:
        result.fast_math = parse_boolean(row.name, value);
        break;
      case Meaning::contract:
        result.contract = parse_boolean(row.name, value);
        break;
      case Meaning::engine:
        result.engine = parse_engine(value);
        break;
      case Meaning::default_device:
        result.default_device = true;
        break;
    }
  }
  return result;
}

}  // namespace gpulua::cpu
