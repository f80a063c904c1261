#include "src/device/cuda/compiler/cuda_compiler.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/dynamic_library.h"
#include "src/base/error.h"
#include "src/device/cuda/compiler/include_scan.h"
#include "src/device/cuda/compiler/module_text.h"
#include "src/device/cuda/compiler/symbol_name.h"
#include "src/device/cuda/compiler/version_text.h"
#include "src/device/shared/compile_hints.h"
#include "src/device/shared/compile_messages.h"
#include "src/device/shared/compound_literals.h"
#include "src/device/shared/implicit_names.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua::cuda {
namespace {

namespace fs = std::filesystem;

// Bumped when the same source would give another CompiledModule.
constexpr std::uint64_t format_version = 4;
constexpr int oldest_major = 12;
constexpr int newest_major = 13;
// The first versions of NVRTC that know an option, as cuDriverGetVersion counts.
constexpr int first_with_minimal = 12040;
constexpr int first_with_no_cache = 12090;

/// The directories of the toolkit's headers: beside NVRTC where they are there, as they are of one version then.
std::vector<fs::path> find_include_dirs(const Config& config, const std::optional<fs::path>& library) {
  std::vector<fs::path> candidates;
  std::error_code error;
  if (library) {
    const fs::path real = fs::canonical(*library, error);
    const fs::path root = (error ? *library : real).parent_path().parent_path();
    candidates = {root / "include", root.parent_path().parent_path() / "include",
                  root.parent_path() / "cuda_runtime" / "include"};
  }
  if (!config.cuda_home.empty()) candidates.push_back(config.cuda_home / "include");
  candidates.emplace_back(config.default_cuda_home / "include");
  candidates.emplace_back("/usr/include");
  for (const fs::path& candidate : candidates) {
    if (!fs::exists(candidate / "cuda_fp16.h", error)) continue;
    std::vector<fs::path> dirs = {candidate};
    if (fs::is_directory(candidate / "cccl", error)) dirs.push_back(candidate / "cccl");
    return dirs;
  }
  return {};
}

constexpr const char* usual_standard = "-std=c++17";
constexpr const char* default_device = "--device-as-default-execution-space";

bool sets_architecture(const std::string& option) {
  return option.starts_with("-arch") || option.starts_with("--gpu-architecture");
}

bool sets_standard(const std::string& option) {
  return option.starts_with("-std") || option.starts_with("--std");
}

/// nvcc's option under NVRTC's name. That device code may call a constexpr function without an annotation is said to
/// NVRTC, which compiles nothing for the host, by taking all functions as the device's.
std::string nvrtc_option(const std::string& option) {
  const bool is_default_device = option.ends_with("-expt-relaxed-constexpr") || option.ends_with("-default-device");
  return is_default_device ? default_device : option;
}

/// Lambdas with __device__ are always there for NVRTC, which does not know nvcc's option for them.
bool is_always_on(const std::string& option) {
  return option.ends_with("-extended-lambda");
}

struct HostHeader {
  std::string_view name, text;
};
/// Headers of host programs, which other people's kernels include, too. What they bring to kernels is there without
/// them, and NVRTC refuses the host functions that they declare.
constexpr HostHeader host_headers[] = {
    {"cuda_profiler_api.h", ""},
    // The toolkit's also has the functions of hosts.
    {"cub/cub.cuh",
     // clang-format off
     "#include <cub/block/block_adjacent_difference.cuh>\n"
     "#include <cub/block/block_discontinuity.cuh>\n"
     "#include <cub/block/block_exchange.cuh>\n"
     "#include <cub/block/block_histogram.cuh>\n"
     "#include <cub/block/block_load.cuh>\n"
     "#include <cub/block/block_merge_sort.cuh>\n"
     "#include <cub/block/block_radix_sort.cuh>\n"
     "#include <cub/block/block_reduce.cuh>\n"
     "#include <cub/block/block_scan.cuh>\n"
     "#include <cub/block/block_shuffle.cuh>\n"
     "#include <cub/block/block_store.cuh>\n"
     "#include <cub/warp/warp_reduce.cuh>\n"
     "#include <cub/warp/warp_scan.cuh>\n"},
    // clang-format on
};
/// NVRTC takes the toolkit's; these are for machines without them.
constexpr std::string_view runtime_headers[] = {
    "builtin_types.h", "cuda_runtime.h",   "cuda_runtime_api.h", "device_functions.h", "device_launch_parameters.h",
    "driver_types.h",  "math_functions.h", "vector_functions.h", "vector_types.h"};

/// `#line 12 "script.lua"`, so that messages point into the script.
std::string line_directive(const std::string& file, int line) {
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c == '\n' || c == '\r' ? ' ' : c);
  }
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// The name expressions that NVRTC's messages are about. It shows each as the line of a pragma of its own making.
std::vector<std::string> rejected_names(std::string_view log) {
  constexpr std::string_view mark = "#pragma nv_mangled_name ";
  std::vector<std::string> names;
  for (std::size_t at = log.find(mark); at != std::string_view::npos; at = log.find(mark, at)) {
    at += mark.size();
    std::string name = trimmed(log.substr(at, log.find('\n', at) - at));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// Whether NVRTC found fault with the source itself, not only with the name expressions.
bool blames_source(std::string_view log) {
  for (std::size_t at = log.find(" error: "); at != std::string_view::npos; at = log.find(" error: ", at + 1)) {
    const std::size_t line = log.rfind('\n', at);
    if (!log.substr(line == std::string_view::npos ? 0 : line + 1).starts_with("__nv_name_map")) return true;
  }
  return false;
}

/// NVRTC's log as the other device's messages look: `script.lua:9: error: ...`, and without the count of errors.
std::string messages_of(std::string_view log) {
  std::string result;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    std::string line(log.substr(at, end - at));
    at = end + 1;
    for (const char* severity : {"error: ", "catastrophic error: ", "internal error: "}) {
      const std::size_t colon = line.find(std::string("): ") + severity);
      const std::size_t open = colon == line.npos ? line.npos : line.rfind('(', colon);
      if (open == line.npos || line.find_first_not_of("0123456789", open + 1) != colon) continue;
      line.replace(colon, 3, ": ").replace(open, 1, ":");
      break;
    }
    const bool is_count = line.find(" detected in the compilation of \"") != line.npos;
    if (!is_count && line != "Compilation terminated." && line != "Error limit reached." && !line.empty())
      result += line + "\n";
  }
  return trimmed(result);
}

constexpr const char* no_expression = "error: expected an expression";

/// What nvcc gives to the host's compiler, and NVRTC refuses: host functions and variables, `register`, compound
/// literals.
bool refuses_host_code(std::string_view log) {
  for (const char* part : {" in JIT mode", "the \"register\" storage class", no_expression})
    if (log.find(part) != log.npos) return true;
  return false;
}

/// The program with its host functions and variables as a device's, which nothing uses, and the rest in C++'s spelling.
/// `headers`: how many of its headers are the source's.
Nvrtc::Program with_host_code(Nvrtc::Program program, std::size_t headers) {
  program.text = "#define register\n#define __host__\n" + std::string(typed_braces) + with_typed_braces(program.text);
  for (std::size_t i = 0; i < headers; ++i) program.headers[i].second = with_typed_braces(program.headers[i].second);
  if (std::ranges::find(program.options, default_device) == program.options.end())
    program.options.insert(program.options.begin(), default_device);
  return program;
}

[[noreturn]] void fail(const std::string& log) {
  const std::vector<std::string> names = rejected_names(log);
  std::string message = "[compile] the kernel source does not compile:\n";
  if (!names.empty() && !blames_source(log)) {
    message = "[compile] names: expected expressions that name a kernel of the source, got ";
    for (const std::string& name : names) message += (&name == &names.front() ? "\"" : ", \"") + name + "\"";
    message += ":\n";
  }
  const std::string messages = messages_of(log), hints = compile_hints(messages);
  throw CompileError(message + first_errors(messages) + (hints.empty() ? "" : "\n" + hints), messages);
}

}  // namespace

std::vector<std::string> toolkit_library_names(const std::string& stem, int driver_version) {
  const int fitting = std::clamp(driver_version / 1000, oldest_major, newest_major);
  std::vector<std::string> names;
  // A driver runs what is older than itself; newer only where nothing else is there.
  for (int major = fitting; major >= oldest_major; --major) names.push_back(stem + ".so." + std::to_string(major));
  for (int major = fitting + 1; major <= newest_major; ++major) names.push_back(stem + ".so." + std::to_string(major));
  return names;
}

Compiler::Compiler(Config config, std::string architecture, int driver_version, fs::path pack)
    : config_(std::move(config)),
      architecture_(std::move(architecture)),
      driver_version_(driver_version),
      pack_(std::move(pack), driver_version) {
  const std::vector<std::string> names = toolkit_library_names("libnvrtc", driver_version);
  const std::vector<std::string_view> views(names.begin(), names.end());
  library_ = find_cuda_library(config_, views);
  include_dirs_ = find_include_dirs(config_, library_);
  toolkit_identity_ = library_ ? file_identity(*library_) : "none";
  for (const fs::path& dir : include_dirs_) toolkit_identity_ += "|" + dir.string();
  for (const char* header : {"cuda.h", "cuda_fp16.h"})
    if (!include_dirs_.empty()) toolkit_identity_ += "|" + file_identity(include_dirs_.front() / header);
  CacheKey headers;
  for (const StandardHeader& header : standard_headers()) headers.add(header.text);
  headers_ = headers.digest();
}

std::shared_ptr<const CompiledModule> Compiler::get(const KernelSource& source, KernelCache& cache) {
  if (source.own)
    if (std::optional<CompiledModule> shipped = pack_.find(pack_digest(source)))
      return std::make_shared<const CompiledModule>(std::move(*shipped));
  if (!source.parts.empty()) return get_cached(source, cache, [&] { return link(source, cache); });
  if (std::ranges::any_of(source.options, is_link_option)) {
    KernelSource whole;
    whole.parts.push_back(source);
    return get(whole, cache);
  }
  return get_cached(source, cache, [&] { return compile(source); });
}

std::shared_ptr<const CompiledModule> Compiler::get_cached(const KernelSource& source, KernelCache& cache,
                                                           const std::function<CompiledModule()>& make) {
  if (const std::optional<std::string> key = digest(source)) return cache.get(*key, make);
  return cache.compile_now(make);
}

CompiledModule Compiler::link(const KernelSource& whole, KernelCache& cache) {
  std::vector<std::shared_ptr<const CompiledModule>> parts;
  for (const KernelSource& part : whole.parts) {
    if (!part.image.empty()) {
      parts.push_back(nullptr);
      continue;
    }
    KernelSource relocatable = part;
    if (std::ranges::none_of(part.options, is_link_option)) relocatable.options.emplace_back("-rdc=true");
    parts.push_back(get_cached(relocatable, cache, [&] { return compile(relocatable); }));
  }
  return linker().link(whole, parts);
}

std::string Compiler::pack_digest(const KernelSource& source) const {
  CacheKey key;
  return key.add(format_version).add(architecture_).add(headers_).add(source).digest();
}

std::optional<std::string> Compiler::digest_of_parts(const KernelSource& whole) {
  CacheKey key;
  key.add("cuda link").add(format_version).add(linker().identity());
  for (const KernelSource& part : whole.parts) {
    const std::optional<std::string> own = digest(part);
    if (!own) return std::nullopt;
    key.add(*own);
  }
  return key.digest();
}

std::optional<std::string> Compiler::digest(const KernelSource& source) {
  if (!source.parts.empty()) return digest_of_parts(source);
  const auto files = find_included_files(source, include_dirs_);
  if (!files) return std::nullopt;
  CacheKey key;
  key.add("cuda").add(format_version).add(architecture_).add(headers_).add(toolkit_identity_).add(source);
  for (const fs::path& file : *files) {
    std::ifstream stream(file, std::ios::binary);
    key.add(file.string()).add(std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return key.digest();
}

CompiledModule Compiler::compile(const KernelSource& source) {
  return first_that_compiles<CompiledModule>(source, [this](const NamedSource& way) { return compile(way); });
}

CompiledModule Compiler::compile(const NamedSource& named) {
  const KernelSource& source = named.source;
  const bool own_architecture = std::ranges::any_of(source.options, sets_architecture);
  Nvrtc::Program program;
  program.name = source.file.empty() ? "kernel.cu" : source.file;
  program.text = named.before;
  // Macros in the text, not as options: there they would reach into the compiler's own headers.
  for (const auto& [name, value] : source.defines) program.text += "#define " + name + " " + value + "\n";
  program.text += line_directive(program.name, source.line) + source.text;
  program.headers = source.headers;
  for (const StandardHeader& header : standard_headers())
    if (!has_own_header(source, header.name)) program.headers.emplace_back(header.name, header.text);
  for (const HostHeader& header : host_headers)
    if (!has_own_header(source, header.name)) program.headers.emplace_back(header.name, header.text);
  for (std::string_view name : runtime_headers)
    if (include_dirs_.empty() && !has_own_header(source, name)) program.headers.emplace_back(name, "");
  program.name_expressions = source.names;
  for (const std::string& option : source.options)
    if (!is_link_option(option) && !is_always_on(option)) program.options.push_back(nvrtc_option(option));
  if (std::ranges::any_of(source.options, is_link_option)) program.options.emplace_back("-rdc=true");
  const bool own_standard = std::ranges::any_of(source.options, sets_standard);
  if (!own_standard) program.options.emplace_back(usual_standard);
  program.options.emplace_back("-w");  // no warnings among the errors
  // What is compiled is in our cache; and our kernels need no textures and no runtime functions.
  if (nvrtc().version() >= first_with_no_cache) program.options.emplace_back("--no-cache");
  if (source.own && nvrtc().version() >= first_with_minimal) program.options.emplace_back("--minimal");
  for (const std::string& dir : source.include_dirs) program.options.push_back("-I" + dir);
  for (const fs::path& dir : include_dirs_) program.options.push_back("-I" + dir.string());
  if (!own_architecture) program.options.push_back("-arch=" + architecture_);

  if (named.takes_host_code) program = with_host_code(std::move(program), source.headers.size());
  Nvrtc::Result result = nvrtc().compile(program);
  const auto try_other = [&](Nvrtc::Program taken) {
    Nvrtc::Result other = nvrtc().compile(taken);
    // Without a kernel the mistake is a missing __global__. Templates may have no instance.
    const bool compiles = other.success && (other.ptx.find(".entry ") != std::string::npos || has_kernel_text(source));
    if (compiles || (!other.success && count_errors(other.log) < count_errors(result.log))) {
      program = std::move(taken);
      result = std::move(other);
    }
  };
  if (!result.success && !named.takes_host_code && refuses_host_code(result.log))
    try_other(with_host_code(program, source.headers.size()));
  // The members' names in `{.x = 1}` are of C++20; nvcc takes them before.
  if (!result.success && !own_standard && result.log.find(no_expression) != std::string::npos) {
    Nvrtc::Program newer = program;
    std::ranges::replace(newer.options, std::string(usual_standard), std::string("-std=c++20"));
    try_other(std::move(newer));
  }
  if (!own_architecture && result.log.find("invalid value for --gpu-architecture") != std::string::npos)
    throw Error(
        ErrorKind::unavailable,
        "[compile] expected an NVRTC that knows {}, got that of CUDA {} ({}), which does not; install a newer one",
        architecture_, version_text(nvrtc().version()), library_->string());
  if (!result.success) fail(result.log);
  const PtxModule ptx = parse_ptx(result.ptx);

  // Symbols without types take a second compilation, which ends with PTX and whose image is not used. The library's own
  // kernels need none: their symbols have types, and nobody asks for their variables.
  SymbolTypes types;
  if (const auto names = untyped_names(ptx); !source.own && !names.empty()) {
    Nvrtc::Program typed = program;
    typed.text += "\ntemplate <class> __global__ void " + std::string(signature_template) + "() {}\n";
    typed.name_expressions.clear();
    for (const auto& [symbol, name] : names)
      typed.name_expressions.push_back(std::string(signature_template) + "<decltype(" + name + ")>");
    if (!own_architecture) typed.options.back() = "-arch=compute_" + architecture_.substr(architecture_.find('_') + 1);
    if (const Nvrtc::Result described = nvrtc().compile(typed); described.success) {
      auto lowered = described.lowered_names.begin();
      for (const auto& [symbol, name] : names) types.emplace(symbol, template_argument(*lowered++));
    }
  }

  std::vector<std::pair<std::string, std::string>> spellings;
  for (std::size_t i = 0; i < source.names.size(); ++i) {
    std::string spelling = trimmed(source.names[i]);
    if (spelling.starts_with('&')) spelling = trimmed(spelling.substr(1));
    spellings.emplace_back(std::move(spelling), result.lowered_names[i]);
  }
  CompiledModule module;
  describe_module(ptx, types, spellings, module);
  if (has_lto(source)) {
    program.options.insert(program.options.begin(), "-dlto");
    result.cubin = nvrtc().compile(program).lto_ir;
  }
  module.image = result.cubin.empty() ? result.ptx : std::move(result.cubin);
  module.ptx = std::move(result.ptx);
  return module;
}

Linker& Compiler::linker() {
  if (!linker_) linker_.emplace(config_, architecture_, driver_version_);
  return *linker_;
}

const Nvrtc& Compiler::nvrtc() {
  if (!library_)
    throw Error(ErrorKind::unavailable,
                "[compile] libnvrtc was not found (looked in the loader's path, CUDA_HOME, /usr/local/cuda and pip's "
                "nvidia packages); install the CUDA toolkit's NVRTC: e.g. apt-get install cuda-nvrtc-13-0, or "
                "pip install nvidia-cuda-nvrtc, or set CUDA_HOME");
  if (!nvrtc_) nvrtc_.emplace(*library_);
  return *nvrtc_;
}

}  // namespace gpulua::cuda
