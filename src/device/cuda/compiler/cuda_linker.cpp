#include "src/device/cuda/compiler/cuda_linker.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/cuda/compiler/cubin.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/cuda/compiler/module_text.h"
#include "src/device/cuda/compiler/ptx.h"
#include "src/device/shared/link_symbols.h"

namespace gpulua::cuda {
namespace {

constexpr std::array lto_names = {"-dlto", "--dlink-time-opt"};
constexpr std::array relocatable_names = {"-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c"};

struct MathOption {
  std::string_view nvrtc;  // without its dashes
  std::string_view linker;
};
/// With LTO the linker makes the machine code, so the options for arithmetic and registers are its own.
constexpr MathOption math_options[] = {{"ftz=", "-ftz="},
                                       {"prec-div=", "-prec-div="},
                                       {"prec-sqrt=", "-prec-sqrt="},
                                       {"fmad=", "-fma="},
                                       {"maxrregcount=", "-maxrregcount="}};

std::vector<std::string> math_options_of(const KernelSource& source) {
  std::vector<std::string> result;
  for (const std::string& option : source.options) {
    const std::string_view name =
        std::string_view(option).substr(std::min(option.find_first_not_of('-'), option.size()));
    if (name == "use_fast_math" || name == "use_fast_math=true")
      for (const char* fast : {"-ftz=1", "-prec-div=0", "-prec-sqrt=0"}) result.emplace_back(fast);
    for (const MathOption& row : math_options)
      if (name.starts_with(row.nvrtc)) {
        const std::string_view value = name.substr(row.nvrtc.size());
        result.push_back(std::string(row.linker) + std::string(value == "true" ? "1" : value == "false" ? "0" : value));
      }
  }
  return result;
}

/// The options of parts that are optimised when they are linked: one for all.
std::vector<std::string> lto_options(const KernelSource& whole) {
  std::vector<std::string> result = {"-lto"};
  std::optional<std::vector<std::string>> common;
  for (std::size_t i = 0; i < whole.parts.size(); ++i) {
    if (!has_lto(whole.parts[i])) continue;
    std::vector<std::string> own = math_options_of(whole.parts[i]);
    if (common && *common != own)
      throw Error(
          "[link] expected the same options for arithmetic and registers in all parts with -dlto, since they are "
          "compiled together, got others in {}",
          part_name(whole, i));
    common = std::move(own);
  }
  if (common) result.insert(result.end(), common->begin(), common->end());
  return result;
}

/// Refuses what could not be linked, and would crash the linker or be left out.
LinkInputKind check_image(const std::string& image, const std::string& name) {
  try {
    const LinkInputKind kind = link_input_kind(image);
    if (kind == LinkInputKind::cubin || kind == LinkInputKind::fatbin) check_binary(image);
    if (kind == LinkInputKind::cubin && is_linked_cubin(image))
      throw Error(
          "expected a cubin that can be linked, as nvcc -dc -cubin and NVRTC's -rdc=true make it, got one that is "
          "linked already, which gpu.load_module loads");
    return kind;
  } catch (const Error& error) {
    throw Error("[link] {}: {}", name, error.what());
  }
}

/// What PTX says of itself; other formats only the driver reads.
std::shared_ptr<const CompiledModule> describe(const NvJitLink::Input& input) {
  auto module = std::make_shared<CompiledModule>();
  if (input.kind != LinkInputKind::ptx) return module;
  module->ptx = input.image;
  describe_module(parse_ptx(input.image), {}, {}, *module);
  return module;
}

/// The symbols that a part shows; none of formats that only NVIDIA's tools read.
std::vector<LinkSymbol> symbols_of(const NvJitLink::Input& input, const std::string& ptx) {
  if (!ptx.empty()) return parse_ptx(ptx).symbols;
  return input.kind == LinkInputKind::cubin ? read_cubin_symbols(input.image) : std::vector<LinkSymbol>();
}

/// Adds what the part has. An instance of a template may be in several parts, and is one; what is static is each
/// part's own, whatever its name.
void add_entries(const CompiledModule& part, const std::vector<LinkSymbol>& symbols, CompiledModule& whole) {
  const auto is_there = [&](const auto& entries, const auto& entry) {
    return std::ranges::find(symbols, entry.symbol, &LinkSymbol::name) != symbols.end() &&
           std::ranges::any_of(
               entries, [&](const auto& other) { return other.symbol == entry.symbol && other.name == entry.name; });
  };
  for (const KernelEntry& kernel : part.kernels)
    if (!is_there(whole.kernels, kernel)) whole.kernels.push_back(kernel);
  for (const GlobalEntry& global : part.globals)
    if (!is_there(whole.globals, global)) whole.globals.push_back(global);
}

}  // namespace

bool is_link_option(const std::string& option) {
  return std::ranges::find(lto_names, option) != lto_names.end() ||
         std::ranges::find(relocatable_names, option) != relocatable_names.end();
}

bool has_lto(const KernelSource& source) {
  return std::ranges::any_of(source.options, [](const std::string& option) {
    return std::ranges::find(lto_names, option) != lto_names.end();
  });
}

Linker::Linker(const Config& config, std::string architecture, int driver_version)
    : architecture_(std::move(architecture)) {
  const std::vector<std::string> names = toolkit_library_names("libnvJitLink", driver_version);
  const std::vector<std::string_view> views(names.begin(), names.end());
  file_ = find_cuda_library(config, views);
  identity_ = file_ ? file_identity(*file_) : "none";
}

const NvJitLink& Linker::library() {
  if (!file_)
    throw Error(ErrorKind::unavailable,
                "[link] libnvJitLink was not found (looked in the loader's path, CUDA_HOME, /usr/local/cuda and pip's "
                "nvidia packages); install the CUDA toolkit's linker: e.g. apt-get install libnvjitlink-13-0, or "
                "pip install nvidia-nvjitlink, or set CUDA_HOME");
  if (!library_) library_.emplace(*file_);
  return *library_;
}

CompiledModule Linker::link(const KernelSource& whole,
                            std::span<const std::shared_ptr<const CompiledModule>> compiled) {
  std::vector<NvJitLink::Input> inputs;
  std::vector<LinkPart> parts;
  CompiledModule result;
  for (std::size_t i = 0; i < whole.parts.size(); ++i) {
    const KernelSource& part = whole.parts[i];
    NvJitLink::Input input{.name = part_name(whole, i), .image = part.image, .kind = LinkInputKind::cubin};
    std::shared_ptr<const CompiledModule> described = compiled[i];
    if (described) {
      input.image = described->image;
      input.kind = link_input_kind(input.image);
    } else {
      input.kind = check_image(part.image, input.name);
      described = describe(input);
    }
    parts.push_back({input.name, symbols_of(input, described->ptx)});
    add_entries(*described, parts.back().symbols, result);
    inputs.push_back(std::move(input));
  }
  check_link(parts);

  std::vector<std::string> options = {"-arch=" + architecture_};
  if (std::ranges::find(inputs, LinkInputKind::lto_ir, &NvJitLink::Input::kind) != inputs.end())
    for (std::string& option : lto_options(whole)) options.push_back(std::move(option));
  NvJitLink::Result linked = library().link(inputs, options);
  if (!linked.success) {
    if (linked.log.find("__cudaCDP2LaunchDevice") != std::string::npos)
      throw Error(ErrorKind::compile, "[link] a kernel launches another one; {}",
                  "kernels are launched by the script, kernel{grid = ..., block = ...}(...), not by their source");
    refuse_missing(parts, linked.log);
    throw Error(ErrorKind::compile, "[link] the parts do not link:\n{}", linked.log);
  }
  result.image = std::move(linked.cubin);
  if (whole.parts.size() == 1 && compiled.front()) result.ptx = compiled.front()->ptx;
  return result;
}

}  // namespace gpulua::cuda
