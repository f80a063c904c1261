#include "src/device/shared/host_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "src/base/characters.h"
#include "src/base/cxx_tokens.h"
#include "src/device/shared/blanked_code.h"
#include "src/device/shared/standard_headers.h"

namespace gpulua {
namespace {

/// Headers of C++, of the system and of CUDA's libraries that have nothing for kernels.
constexpr std::string_view host_headers[] = {
    "aio.h",
    "alloca.h",
    "any",
    "argp.h",
    "barrier",
    "bit",
    "bitset",
    "byteswap.h",
    "bzlib.h",
    "cblas.h",
    "ccomplex",
    "cctype",
    "cerrno",
    "cfenv",
    "charconv",
    "ciso646",
    "clocale",
    "codecvt",
    "compare",
    "complex",
    "complex.h",
    "concepts",
    "coroutine",
    "csetjmp",
    "csignal",
    "cstdalign",
    "cstdarg",
    "ctgmath",
    "ctype.h",
    "cuchar",
    "cudaEGL.h",
    "cudaProfiler.h",
    "cudaTypedefs.h",
    "cuda_egl_interop.h",
    "cuda_gl_interop.h",
    "cudla.h",
    "cufile.h",
    "cupti.h",
    "cwchar",
    "cwctype",
    "cxxabi.h",
    "dirent.h",
    "dlfcn.h",
    "emmintrin.h",
    "endian.h",
    "errno.h",
    "execinfo.h",
    "execution",
    "expected",
    "fcntl.h",
    "features.h",
    "fenv.h",
    "fftw3.h",
    "filesystem",
    "flat_map",
    "flat_set",
    "fnmatch.h",
    "format",
    "ftw.h",
    "future",
    "generator",
    "getopt.h",
    "grp.h",
    "hdf5.h",
    "helper_image.h",
    "helper_string.h",
    "iconv.h",
    "ifaddrs.h",
    "immintrin.h",
    "iso646.h",
    "jpeglib.h",
    "langinfo.h",
    "lapacke.h",
    "latch",
    "libgen.h",
    "locale",
    "locale.h",
    "lz4.h",
    "lzma.h",
    "malloc.h",
    "mdspan",
    "memory_resource",
    "monetary.h",
    "mpi.h",
    "mqueue.h",
    "netdb.h",
    "nl_types.h",
    "npp.h",
    "numa.h",
    "numbers",
    "nvJitLink.h",
    "nvToolsExt.h",
    "nvToolsExtCudaRt.h",
    "nvjpeg.h",
    "nvml.h",
    "nvrtc.h",
    "nvtx3/nvToolsExt.h",
    "nvtx3/nvToolsExtCudaRt.h",
    "omp.h",
    "png.h",
    "poll.h",
    "print",
    "pty.h",
    "pwd.h",
    "random",
    "ranges",
    "ratio",
    "regex",
    "regex.h",
    "resolv.h",
    "sched.h",
    "scoped_allocator",
    "search.h",
    "semaphore",
    "setjmp.h",
    "shared_mutex",
    "signal.h",
    "smmintrin.h",
    "source_location",
    "span",
    "spanstream",
    "spawn.h",
    "stacktrace",
    "stdalign.h",
    "stdarg.h",
    "stdfloat",
    "stdnoreturn.h",
    "stop_token",
    "streambuf",
    "string_view",
    "strings.h",
    "strstream",
    "syncstream",
    "sysexits.h",
    "syslog.h",
    "system_error",
    "termios.h",
    "tgmath.h",
    "tiffio.h",
    "tmmintrin.h",
    "typeindex",
    "typeinfo",
    "uchar.h",
    "ucontext.h",
    "utime.h",
    "utmpx.h",
    "valarray",
    "variant",
    "version",
    "wctype.h",
    "wordexp.h",
    "x86intrin.h",
    "xmmintrin.h",
    "zlib.h",
    "zstd.h",
};

/// Folders of such headers.
constexpr std::string_view host_folders[] = {
    "EGL/",     "GL/",         "GLES2/",  "GLES3/", "GLFW/",   "SDL2/",   "X11/",   "arpa/",  "benchmark/",
    "boost/",   "cub/device/", "curl/",   "fmt/",   "gflags/", "glog/",   "gtest/", "linux/", "net/",
    "netinet/", "openssl/",    "spdlog/", "sys/",   "tbb/",    "thrust/", "vulkan/"};

constexpr std::array<std::string_view, 6> device_marks{"__global__", "__device__",   "constexpr",
                                                       "consteval",  "__constant__", "__managed__"};

/// What may follow a variable's name.
constexpr std::array<std::string_view, 2> value_marks{"=", "["};

/// A name in capitals, such as HOST_DEVICE: what it stands for is not known here.
bool may_be_macro(std::string_view word) {
  const auto is_small = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  return word.size() > 1 && is_identifier(word[0]) && !word.starts_with("__") && std::ranges::none_of(word, is_small);
}

bool is_alignment(std::string_view word) {
  return word == "alignas" || word == "__align__" || word == "__attribute__" || word == "__declspec";
}

/// What stands in the bodies of members that only hosts may call: where a kernel calls one, nothing defines this.
constexpr std::string_view only_for_hosts = "gpulua_host();";

/// Goes over the declarations of namespaces and types.
class HostCode {
 public:
  explicit HostCode(std::string_view text) : text_(text), result_(text) {}

  std::string blanked() {
    CxxTokens tokens(text_);
    for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) read(token);
    return result_.text();
  }

 private:
  std::size_t place(std::string_view part) const { return static_cast<std::size_t>(part.data() - text_.data()); }

  void read(const CxxToken& token) {
    if (token.kind == CxxToken::Kind::directive) return read(CxxDirective(token), token.text);
    const bool is_mark = token.kind == CxxToken::Kind::mark;
    if (depth_ > 0) {  // within a body or an initialiser
      if (is_mark && token.text == "{") ++depth_;
      if (is_mark && token.text == "}" && --depth_ == 0) end_body(token);
      return;
    }
    if (words_.empty()) start(place(token.text));
    if (is_mark && in_template_ && parentheses_ == 0) {
      if (token.text == "<") ++angles_;
      if (token.text == ">" && --angles_ == 0) in_template_ = false, head_ = words_.size() + 1;
    }
    if (token.text == "template") in_template_ = true;
    if (is_mark && token.text == "=" && parentheses_ == 0 && !in_template_) read_equals();
    if (is_mark && token.text == "(") ++parentheses_;
    if (is_mark && token.text == ")") --parentheses_;
    if (is_mark && parentheses_ == 0 && token.text == "{") return open(token);
    if (is_mark && parentheses_ == 0 && token.text == ";") {
      if (types_ == 0 && ((is_host_function() && !may_be_trait()) || is_host_variable()))
        result_.blank(begin_, place(token.text) + 1);
      return words_.clear();
    }
    const bool in_argument = is_mark && parentheses_ > 0 && (token.text == "{" || (token.text == "}" && braces_ > 0));
    if (in_argument) braces_ += token.text == "{" ? 1 : -1;
    if (is_mark && token.text == "}" && !in_argument) return close(token);
    words_.push_back(token.text);
  }

  /// A value follows, unless it is a part of `!=` or `==`, as in a type's arguments, or of an operator's name.
  void read_equals() {
    constexpr std::string_view others = "=!<>+-*/%&|^";
    const std::string_view before = words_.empty() ? "" : words_.back();
    has_value_ = before != "operator" && !(before.size() == 1 && others.find(before) != others.npos);
  }

  /// Each branch of an #if goes on from what stands before it: a brace that all of them open is one brace.
  void read(const CxxDirective& directive, std::string_view text) {
    const std::string_view header = directive.included();
    // The toolkit's has macros alone, whose values sources ask for.
    if (depth_ == 0 && is_host_header(header) && header != "thrust/version.h")
      result_.blank(place(text), place(text) + text.size());
    if (directive.name.starts_with("if")) open_.emplace_back(depth_, types_);
    if (open_.empty()) return;
    if (directive.name.starts_with("el")) std::tie(depth_, types_) = open_.back();
    if (directive.name == "endif") open_.pop_back();
  }

  void start(std::size_t place) {
    begin_ = place;
    parentheses_ = angles_ = braces_ = 0;
    head_ = 0;
    in_template_ = has_value_ = false;
  }
  void open(const CxxToken& brace) {
    const bool is_namespace = has("namespace") || (words_.size() == 2 && words_[0] == "extern");
    if (is_namespace) return words_.clear();
    if (is_type() && !has("enum")) {
      ++types_;
      return words_.clear();
    }
    body_ = place(brace.text) + 1;
    depth_ = 1;
  }
  void close(const CxxToken& brace) {
    words_.clear();
    if (types_ == 0) return;  // a namespace: these are outside of types
    --types_;
    start(place(brace.text));  // what follows up to the semicolon belongs to the type
    words_.push_back(brace.text);
  }
  void end_body(const CxxToken& token) {
    const std::size_t end = place(token.text);
    if (is_type() || has_value_) {  // goes on to a semicolon
      has_value_ = true;
      return;
    }
    if (is_host_function()) {
      if (types_ == 0) {
        result_.blank(begin_, end + 1);
      } else {
        result_.blank(body_, end);
        result_.put(body_, std::string(only_for_hosts));
      }
    }
    words_.clear();
  }

  /// A type's head ends in a name or a template's arguments, a function's in its parameters or what may follow them.
  bool is_type() const {
    constexpr std::array kinds{"struct", "class", "union", "enum"};
    const auto head = words_.begin() + static_cast<std::ptrdiff_t>(head_);
    const auto kind = std::find_first_of(head, words_.end(), kinds.begin(), kinds.end());
    if (kind == words_.end()) return false;
    // A base may be `decltype(f())`.
    const auto parameters = std::find(kind, words_.end(), "(");
    for (auto word = kind + 1; word < parameters && parameters != words_.end(); ++word)
      if (*word == ":" && *(word - 1) != ":" && *(word + 1) != ":") return true;
    // `struct alignas(16) V` and `struct __align__(8)`.
    auto last_word = words_.end() - 1;
    if (const auto open = std::find(head, words_.end(), "(");
        open != words_.end() && open != head && (is_alignment(*(open - 1)) || open - kind == 2))
      last_word = open - 1;
    const std::string_view last = *last_word;
    return last != ")" && last != "const" && last != "noexcept" && last != "override" && last != "final";
  }
  /// A name in capitals with no mark behind it, as those of types and classes have: `MATRIX* f()`, `MATRIX::f()`.
  bool has_macro_before(std::vector<std::string_view>::const_iterator name) const {
    for (auto word = words_.begin(); word != name; ++word) {
      const std::string_view next = *(word + 1);
      if (may_be_macro(*word) && next != ":" && next != "*" && next != "&" && next != "<") return true;
    }
    return false;
  }
  bool has(std::string_view word) const { return std::ranges::find(words_, word) != words_.end(); }
  /// Of the words of a declaration: a result's type, a name and parameters, and nothing that may be a device's.
  bool is_host_function() const {
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(std::min(head_, words_.size()));
    const auto parameters = std::find(first, words_.end(), "(");
    const std::ptrdiff_t least = types_ > 0 ? 1 : 2;  // constructors have no type
    if (parameters == words_.end() || parameters - first < least || has_value_ || has("typedef") || has("using"))
      return false;
    if (std::ranges::any_of(device_marks, [this](std::string_view mark) { return has(mark); })) return false;
    return !has_macro_before(parameters - 1);
  }

  /// A function without a body that `decltype` asks for its type: nothing calls it.
  bool may_be_trait() const { return words_.front() == "template" || words_.front() == "auto"; }

  /// Of the words of a declaration: a variable that kernels cannot use, as it is neither theirs nor constant.
  bool is_host_variable() const {
    constexpr std::array<std::string_view, 15> others{"(",      "namespace", "const",  "typedef",  "using",
                                                      "}",      "struct",    "class",  "union",    "enum",
                                                      "extern", "template",  "friend", "operator", "static_assert"};
    const auto value = std::find_first_of(words_.begin(), words_.end(), value_marks.begin(), value_marks.end());
    if (value - words_.begin() < 2) return false;
    const auto is_in = [](const auto& list, std::string_view word) {
      return std::ranges::find(list, word) != list.end();
    };
    // Its name may be in capitals.
    return std::none_of(words_.begin(), value,
                        [&](std::string_view word) { return is_in(others, word) || is_in(device_marks, word); }) &&
           !has("__shared__") && !has_macro_before(value - 1);
  }

  std::string_view text_;
  BlankedCode result_;
  std::vector<std::string_view> words_;    // of the declaration that has begun
  std::vector<std::pair<int, int>> open_;  // `depth_` and `types_` before each #if that is open
  std::size_t begin_ = 0, head_ = 0;       // where it begins, and its first word behind a template's parameters
  std::size_t body_ = 0;                   // behind the brace that opens its body
  int depth_ = 0, types_ = 0, parentheses_ = 0, angles_ = 0;
  int braces_ = 0;  // within parentheses
  bool in_template_ = false, has_value_ = false;
};

}  // namespace

bool is_host_header(std::string_view name) {
  if (std::ranges::any_of(public_headers(), [&](const StandardHeader& header) { return header.name == name; }))
    return false;
  return std::ranges::find(host_headers, name) != std::end(host_headers) ||
         std::ranges::any_of(host_folders, [&](std::string_view folder) { return name.starts_with(folder); });
}

std::string without_host_code(std::string_view text) {
  return HostCode(text).blanked();
}

}  // namespace gpulua
