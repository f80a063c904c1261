#include "bindings/kernels/kernel_source.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays/lua_device.h"
#include "bindings/lua/list.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/source_location.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Reads the option table. Errors name `op` and the field.
class OptionReader {
 public:
  OptionReader(lua_State* L, const char* op) : L_(L), op_(op) {}

  void read(int table, SourceRequest& request) {
    KernelSource& source = request.source;
    const auto header = [&](int text) { return header_text(text); };
    const auto macro = [&](int value) { return macro_value(value); };
    read_options(L_, table, op_,
                 {{"options", [&](int value) { source.options = strings("options", value); }},
                  {"defines", [&](int value) { source.defines = pairs("defines", value, macro); }},
                  {"headers", [&](int value) { source.headers = pairs("headers", value, header); }},
                  {"include", [&](int value) { source.include_dirs = folders(value); }},
                  {"names", [&](int value) { source.names = strings("names", value); }},
                  {"name", [&](int value) { source.file = source_name(value); }},
                  {"device", [&](int value) { request.device = check_device(L_, value, op_); }}});
  }

 private:
  [[noreturn]] void refuse(const std::string& field, const char* expected, int value) {
    throw Error("[{}] {}: expected {}, got {}", op_, field, expected, describe(L_, value));
  }

  /// Reads a text. Rejects zero bytes, because a compiler ignores the text after the first one.
  std::string text(const std::string& field, int index) {
    std::size_t length = 0;
    const char* first = lua_tolstring(L_, index, &length);
    std::string result(first, length);
    if (result.find('\0') != result.npos) refuse(field, "text without zero bytes", index);
    return result;
  }

  std::vector<std::string> strings(const std::string& field, int list) {
    const char* expected = "a list of strings";
    if (!lua_istable(L_, list)) refuse(field, expected, list);
    std::vector<std::string> result;
    const int count = check_list(L_, list, op_, ("strings for " + field).c_str());
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L_, list, i);
      if (lua_type(L_, -1) != LUA_TSTRING) refuse(field, expected, lua_gettop(L_));
      result.emplace_back(text(field, lua_gettop(L_)));
      lua_pop(L_, 1);
    }
    return result;
  }

  /// The name of the source in messages, where it stands before a colon and the line.
  std::string source_name(int value) {
    const char* expected = "the source's name in messages, such as \"saxpy.cu\"";
    if (lua_type(L_, value) != LUA_TSTRING) refuse("name", expected, value);
    std::string name = text("name", value);
    if (name.empty() || name.find_first_of("\r\n") != name.npos) refuse("name", expected, value);
    return name;
  }

  /// A compiler ignores a folder that is not there. Scripts in a sandbox do not learn whether it is.
  std::vector<std::string> folders(int list) {
    std::vector<std::string> result = strings("include", list);
    std::error_code unreadable;
    for (const std::string& folder : result)
      if (bindings_of(L_).context().rights.trusted && !std::filesystem::is_directory(folder, unreadable))
        throw Error("[{}] include: expected folders, got \"{}\", which is not a folder", op_, folder);
    return result;
  }

  /// Reads a table of pairs, sorted by name. A Lua table's own order differs between runs, and the order is part of the
  /// kernel cache's key.
  template <class ReadValue>
  Pairs pairs(const std::string& field, int table, ReadValue read_value) {
    if (!lua_istable(L_, table)) refuse(field, "a table of values by name", table);
    Pairs result;
    for (lua_pushnil(L_); lua_next(L_, table) != 0; lua_pop(L_, 1)) {
      const int value = lua_gettop(L_);
      if (lua_type(L_, value - 1) != LUA_TSTRING)
        refuse(field, "a name for each value, as in {name = value}", value - 1);
      result.emplace_back(text(field, value - 1), read_value(value));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  std::string header_text(int index) {
    if (lua_type(L_, index) != LUA_TSTRING) refuse("headers", "a header's text", index);
    return text("headers", index);
  }

  std::string macro_value(int index) {
    const char* expected = "a string, a finite number or a boolean";
    if (lua_type(L_, index) == LUA_TSTRING) return text("defines", index);
    const auto scalar = to_scalar(L_, index);
    if (!scalar) refuse("defines", expected, index);
    if (const auto* boolean = std::get_if<bool>(&*scalar)) return *boolean ? "1" : "0";
    if (const auto* integer = std::get_if<std::int64_t>(&*scalar)) return std::to_string(*integer);
    if (const auto* integer = std::get_if<std::uint64_t>(&*scalar)) return std::to_string(*integer) + "u";
    const auto* number = std::get_if<double>(&*scalar);
    if (!number || !std::isfinite(*number)) refuse("defines", expected, index);
    return number_text(*number);
  }

  /// The shortest C++ literal for the number; an integer literal for an integer.
  static std::string number_text(double number) {
    char text[32];
    const bool integral = number == std::floor(number) && std::abs(number) < 0x1p53;
    const auto end = integral ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number))
                              : std::to_chars(text, text + sizeof text, number);
    return {text, end.ptr};
  }

  lua_State* L_;
  const char* op_;
};

/// True for text that is a file name with one of the endings and cannot be source.
bool is_file_name(std::string_view text, std::initializer_list<std::string_view> endings) {
  if (text.find_first_of("\n{}();") != text.npos) return false;
  return std::ranges::any_of(endings, [&](std::string_view ending) { return text.ends_with(ending); });
}

}  // namespace

void refuse_file_name(std::string_view text, const char* op, bool takes_images) {
  const bool is_source = is_file_name(text, {".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp"});
  const bool is_image = !takes_images && is_file_name(text, {".ptx", ".cubin", ".fatbin"});
  if (!is_source && !is_image) return;
  const std::string quoted = '"' + std::string(text) + '"', whole = "assert(io.open(" + quoted + ")):read(\"*a\")";
  throw Error("[{}] expected {}, got the name of a file, {}; {}", op,
              takes_images ? "PTX, a cubin or a fatbin" : "CUDA C++ source as a string", quoted,
              is_image       ? "gpu.load_module(" + quoted + ") loads it"
              : takes_images ? "gpu.module(" + whole + ") compiles it"
                             : whole + " is its text");
}

std::string read_compiled_file(const char* op, const std::string& path) {
  std::error_code failure;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, failure))
    throw Error(ErrorKind::unavailable, "[{}] no file \"{}\"", op, path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_source_rights(lua_State* L, const char* op, const std::string* text) {
  Context& context = bindings_of(L).context();
  if (!context.rights.trusted) context.rights.check_source(op, context.current()->device().checking(), text);
}

SourceRequest check_source(lua_State* L, int source, int options, const char* op, bool is_library) {
  SourceRequest request;
  request.source.text = check_string(L, source, op, "CUDA C++ source as a string");
  if (!is_library) check_source_rights(L, op, &request.source.text);
  // Options would be source that no digest is of, or files of the host.
  if (!is_library && !bindings_of(L).context().rights.trusted && !lua_isnoneornil(L, options))
    fail(op, "source without options in a sandbox", L, options);
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; request.source.text.starts_with(mark))
    request.source.text.erase(0, mark.size());  // an editor's UTF-8 byte order mark
  if (request.source.text.find('\0') != std::string::npos) fail(op, "CUDA C++ source without zero bytes", L, source);
  refuse_file_name(request.source.text, op, false);
  if (!lua_isnoneornil(L, options)) OptionReader(L, op).read(options, request);
  if (!request.device) request.device = bindings_of(L).context().current();
  if (!request.source.file.empty()) return request;
  SourceLocation location = locate_source(L, request.source.text);
  request.source.file = std::move(location.file);
  request.source.line = location.line;
  return request;
}

}  // namespace gpulua
