#include "src/device/shared/compile_hints.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/characters.h"

namespace gpulua {
namespace {

/// Names, and what to say of them, where '%' is the name. A name that ends in '*' stands for all that begin so.
struct Hint {
  std::vector<std::string_view> names;
  std::string_view advice;
};

const std::vector<Hint>& unknown_names() {
  static const std::vector<Hint> table = {
      {{"curand*", "skipahead*"}, "is declared in a header: #include <curand_kernel.h>"},
      {{"half",    "half2",   "__half*", "__float2half*", "__float22half*", "__double2half", "__int2half*",
        "__hadd*", "__hsub*", "__hmul*", "__hdiv*",       "__hfma*",        "__heq*",        "__hne*",
        "__hlt*",  "__hle*",  "__hgt*",  "__hge*",        "__hneg*",        "__hmax*",       "__hmin*",
        "hexp*",   "hlog*",   "hsqrt*",  "hrcp*",         "__low2half*",    "__high2half*"},
       "is declared in a header: #include <cuda_fp16.h>"},
      {{"nv_bfloat16*", "__nv_bfloat16*", "__float2bfloat16*", "__bfloat16*", "__float22bfloat16*"},
       "is declared in a header: #include <cuda_bf16.h>"},
      {{"__nv_fp8*"}, "is declared in a header: #include <cuda_fp8.h>"},
      {{"cooperative_groups"}, "is declared in a header: #include <cooperative_groups.h>"},
      {{"cg"}, "is made by two lines: #include <cooperative_groups.h> and namespace cg = cooperative_groups;"},
      {{"cuComplex", "cuFloatComplex", "cuDoubleComplex", "make_cu*", "cuC*"},
       "is declared in a header: #include <cuComplex.h>"},
      {{"CUDART_*"}, "is declared in a header: #include <math_constants.h>"},
      {{"wmma", "nvcuda"}, "is declared in a header: #include <mma.h>"},
      {{"cudaMalloc*", "cudaFree*", "cudaMemcpy*", "cudaMemset*"},
       "is for host programs: the script makes arrays (gpu.empty, gpu.array) and reads them (x:host(), x:table())"},
      {{"cudaDeviceSynchronize", "cudaStream*", "cudaEvent*", "cudaGetLastError", "cudaLaunch*", "cudaSetDevice",
        "cudaError_t", "cudaGetDevice*"},
       "is for host programs: the script launches kernels and waits for them (gpu.stream, gpu.event, gpu.sync)"},
      {{"gpulua_host"},
       "stands in members that are not marked __device__, which kernels cannot call: mark those that they call"},
      {{"cub"}, "is declared in a header: #include <cub/cub.cuh>"},
      {{"thrust"},
       "is a library for host programs, except thrust::complex of <thrust/complex.h>: gpu.sort, gpu.cumsum and "
       "reductions work on whole arrays"},
      {{"std::cout", "cout", "std::endl", "endl"}, "is for host programs: kernels print with printf"},
      {{"std::vector", "std::string", "std::map", "std::unordered_map", "std::unique_ptr", "std::shared_ptr"},
       "is for host programs: kernels have pointers and arrays of a fixed size"},
      {{"get_global_id", "get_local_id", "get_group_id", "get_local_size", "__kernel", "__local"},
       "is OpenCL's: CUDA has blockIdx.x * blockDim.x + threadIdx.x, __global__ functions and __shared__ arrays"},
      {{"texture", "surface", "cudaTextureType*", "cudaSurfaceType*"},
       "is of texture references, which CUDA 12 has removed: a kernel has a parameter cudaTextureObject_t t, which "
       "tex2D<float>(t, x, y) reads and gpu.texture(x) makes"},
      {{"texCubemap*", "tex2Dgather", "surfCubemap*"},
       "is not there on all devices: gpu.texture has textures of 1, 2 and 3 dimensions and layers"},
      {{"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot"},
       "is %_sync since CUDA 9, whose first argument says which threads of the warp take part: %_sync(0xffffffff, "
       "...)"},
      {{"pi", "PI", "Pi"}, "is M_PI in C++, and 3.14159265f where floats should stay floats"},
      {{"np", "numpy"}, "is Python's: C++ has sqrtf(x), sinf(x) and M_PI without a prefix"},
      {{"int8"}, "is signed char in C++"},
      {{"int16"}, "is short in C++"},
      {{"int32"}, "is int in C++"},
      {{"int64"}, "is long long in C++"},
      {{"uint8"}, "is unsigned char in C++"},
      {{"uint16"}, "is unsigned short in C++"},
      {{"uint32"}, "is unsigned int in C++"},
      {{"uint64"}, "is unsigned long long in C++"},
      {{"float16"}, "is __half in C++, of #include <cuda_fp16.h>"},
      {{"bfloat16"}, "is __nv_bfloat16 in C++, of #include <cuda_bf16.h>"},
      {{"float32"}, "is float in C++"},
      {{"float64"}, "is double in C++"},
      {{"complex64"}, "is float2 in C++"},
      {{"complex128"}, "is double2 in C++"},
  };
  return table;
}

/// Names of host programs, some of which headers declare.
const std::vector<Hint>& host_functions() {
  static const std::vector<Hint> table = {
      {{"fprintf",  "fopen", "fclose", "fread",   "fwrite", "fgets",  "fputs", "fflush",  "puts",        "sprintf",
        "snprintf", "scanf", "sscanf", "perror",  "exit",   "abort",  "atoi",  "atof",    "strtol",      "strtod",
        "rand",     "srand", "calloc", "realloc", "qsort",  "getenv", "time",  "clock_t", "gettimeofday"},
       "is for host programs: kernels have printf, clock64(), __trap() and the generators of <curand_kernel.h>"},
  };
  return table;
}

const std::vector<Hint>& missing_headers() {
  static const std::vector<Hint> table = {
      {{"cuda_runtime.h", "cuda.h", "cuda_runtime_api.h", "device_launch_parameters.h", "stdio.h", "cstdio",
        "helper_cuda.h"},
       "is not needed: kernels have the built-in variables, printf, assert and the math functions without an #include"},
      {{"thrust/*", "cub/device/*"},
       "is for host programs, as all but <thrust/complex.h> and cub's blocks and warps, <cub/cub.cuh>, are: gpu.sort, "
       "gpu.cumsum and reductions work on whole arrays"},
  };
  return table;
}

/// Functions whose arguments do not fit.
const std::vector<Hint>& wrong_arguments() {
  static const std::vector<Hint> table = {
      {{"atomicMax", "atomicMin"},
       "is for integers: %((int*)p, __float_as_int(value)) keeps the order of floats that are not negative, a loop "
       "over "
       "atomicCAS of all; gpu.max and gpu.min reduce whole arrays"},
      {{"atomicAdd", "atomicSub", "atomicExch", "atomicCAS", "atomicAnd", "atomicOr", "atomicXor"},
       "takes a pointer to int, unsigned int or unsigned long long, atomicAdd to float and double too, and a value of "
       "that "
       "type: of a long long*, (unsigned long long*)p"},
  };
  return table;
}

/// Parts of messages, and what to say of them.
const std::vector<std::pair<std::string_view, std::string_view>>& wrong_code() {
  constexpr std::string_view marks =
      "functions of a kernel's source are kernels, __global__, or called by kernels, __device__";
  constexpr std::string_view launches =
      "kernels are launched by the script, kernel{grid = ..., block = ...}(...), not by their source";
  constexpr std::string_view sizes =
      "the size of a __shared__ array is a constant; extern __shared__ T x[]; has the bytes that the launch gives it, "
      "shared = ...";
  constexpr std::string_view results =
      "kernels and the bodies of gpu.elementwise return nothing: they set their outputs, y = ... or y[i] = ...";
  static const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"is considered a host function", marks},
      {"call to __host__ function", marks},
      {"cudaConfigureCall", launches},
      {"reference to __global__ function", launches},
      {"kernel launch from __device__", launches},
      {"device-side kernel launch could not be processed", launches},
      {"variable length array declaration cannot have", sizes},
      {"should not return a value", results},
      {"return value type does not match the function type", results},
  };
  return table;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

/// The messages, line by line.
class Log {
 public:
  explicit Log(std::string_view text) : rest_(text) {}
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return true;
  }
  std::string_view line() const { return line_; }

  /// True where clang's caret two lines below points at this operator, or NVRTC's at the line that has it.
  bool is_about(char of) const {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) return false;
    const std::string_view code = rest_.substr(0, end), below = rest_.substr(end + 1);
    const std::string_view marks = below.substr(0, below.find('\n'));
    const bool is_clangs = line_.find("invalid operands to binary expression") != line_.npos;
    const bool is_nvrtcs = line_.find("expression must have integral") != line_.npos;
    const std::size_t caret = marks.find('^');
    return (is_clangs && caret < code.size() && code[caret] == of) || (is_nvrtcs && code.find(of) != code.npos);
  }

  /// The word that the caret two lines below points at.
  std::string_view word_at_caret() const {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) return {};
    const std::string_view code = rest_.substr(0, end), marks = rest_.substr(end + 1);
    const std::size_t first = marks.find_first_not_of(" \t");
    if (first == marks.npos || marks[first] != '^' || first >= code.size()) return {};
    std::size_t last = first;
    while (last < code.size() && is_word(code[last])) ++last;
    return code.substr(first, last - first);
  }

 private:
  std::string_view rest_, line_;
};

/// The part of `line` between the two texts; empty when they are not there.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t at = line.find(before);
  if (at == line.npos) return {};
  const std::string_view rest = line.substr(at + before.size());
  const std::size_t end = rest.find(after);
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

/// "exit" of "_Z4exiti": the name of a C++ function that is in no namespace. Other symbols are as they are.
std::string plain_name(std::string_view symbol) {
  std::size_t length = 0;
  const auto digits = symbol.starts_with("_Z") ? symbol.substr(2) : std::string_view();
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (parsed.ec != std::errc()) return std::string(symbol);
  return std::string(digits.substr(static_cast<std::size_t>(parsed.ptr - digits.data()), length));
}

/// The name that a message says is unknown.
std::string unknown_name(const Log& log) {
  const std::string_view line = log.line();
  for (const char* before : {"undeclared identifier '", "unknown type name '", "no template named '"})
    if (const std::string_view name = between(line, before, "'"); !name.empty())
      return (line.find("in namespace 'std'") != line.npos ? "std::" : "") + std::string(name);
  if (const std::string_view name = between(line, "no member named '", "' in namespace 'std'"); !name.empty())
    return "std::" + std::string(name);
  if (const std::string_view name = between(line, "namespace \"std\" has no member \"", "\""); !name.empty())
    return "std::" + std::string(name);
  if (const std::string_view name = between(line, "reference to __host__ variable '", "'"); !name.empty())
    return "std::" + std::string(name);
  if (const std::string_view name = between(line, "error: ", " is not a template"); !name.empty())
    return std::string(name);
  if (const std::string_view symbol = between(line, "Unresolved extern function '", "'"); !symbol.empty())
    return plain_name(symbol);
  if (line.find("name followed by \"::\" must be") != line.npos) return std::string(log.word_at_caret());
  return std::string(between(line, "identifier \"", "\" is undefined"));
}

/// The class of the host to which a message's function belongs: clang's notes name the header, NVRTC the symbol.
std::string host_class(std::string_view line) {
  struct Row {
    std::string_view header, symbol, name;
  };
  static constexpr Row rows[] = {{"vector", "St6vector", "std::vector"},
                                 {"string", "SbIcJ", "std::string"},
                                 {"host_streams.h", "St13gpulua_stream", "std::cout"},
                                 {"host_containers.h", "St16gpulua_container", "std::map"},
                                 {"host_objects.h", "St10unique_ptr", "std::unique_ptr"},
                                 {"host_objects.h", "St10shared_ptr", "std::shared_ptr"}};
  const bool is_note = line.starts_with("/gpulua/") && line.find(": note: ") != line.npos;
  const std::string_view symbol = between(line, "Unresolved extern function '", "'");
  for (const Row& row : rows) {
    if (is_note && line.find("/" + std::string(row.header) + ":") != line.npos) return std::string(row.name);
    if (symbol.find(row.symbol) != symbol.npos) return std::string(row.name);
  }
  return "";
}

/// The name of the function whose overloads all refuse the arguments, according to the message.
std::string unfit_function(std::string_view line) {
  const std::string_view name = between(line, "no matching function for call to '", "'");
  return std::string(name.empty() ? between(line, "no instance of overloaded function \"", "\"") : name);
}

/// The advice about `name`.
std::string complete(std::string_view advice, const std::string& name) {
  std::string text = name + " ";
  for (const char c : advice) text += c == '%' ? name : std::string(1, c);
  return text;
}

std::string missing_header(std::string_view line) {
  if (line.find("' file not found") != line.npos) return std::string(between(line, "error: '", "' file not found"));
  return std::string(between(line, "open source file \"", "\""));
}

class Hints {
 public:
  void add(const std::vector<Hint>& table, const std::string& name) {
    if (name.empty()) return;
    for (const Hint& hint : table)
      if (std::ranges::any_of(hint.names, [&](std::string_view pattern) { return matches(pattern, name); }))
        return add(complete(hint.advice, name));
  }
  void add(const std::string& text) {
    // Where several names have one remedy, the first stands for them.
    const std::string remedy = text.substr(text.find(' '));
    if (std::ranges::any_of(hints_, [&](const std::string& h) { return h.ends_with(remedy); })) return;
    hints_.push_back(text);
  }
  std::size_t count() const { return hints_.size(); }
  std::string text() const {
    std::string result;
    for (const std::string& hint : hints_) result += (result.empty() ? "hint: " : "\nhint: ") + hint;
    return result;
  }

 private:
  std::vector<std::string> hints_;
};

}  // namespace

std::string compile_hints(std::string_view messages) {
  Hints hints;
  for (Log log(messages); log.next();) {
    const auto has = [&](std::string_view part) { return log.line().find(part) != std::string_view::npos; };
    if (!has("note: ") && !has("error: ") && !has("ptxas fatal ")) continue;
    if (const std::string name = host_class(log.line()); !name.empty()) {
      hints.add(unknown_names(), name);
      continue;
    }
    const std::size_t known = hints.count();
    hints.add(unknown_names(), unknown_name(log));
    hints.add(host_functions(), unknown_name(log));
    if (has("Unresolved extern function") && hints.count() == known)
      hints.add(unknown_name(log) +
                " is declared, but nothing defines it: gpu.link joins this source and the one that does");
    hints.add(host_functions(), unfit_function(log.line()));
    hints.add(missing_headers(), missing_header(log.line()));
    hints.add(wrong_arguments(), unfit_function(log.line()));
    if (log.is_about('^')) hints.add("^ is exclusive or, of integers; x * x or pow(x, y) is a power");
    if (log.is_about('%')) hints.add("% is of integers; fmod(x, y) is the remainder of numbers with fractions");
    for (const auto& [part, advice] : wrong_code())
      if (has(part)) hints.add(std::string(advice));
  }
  return hints.text();
}

}  // namespace gpulua
