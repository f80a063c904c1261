// Files without a format of their own: text and plain elements. The C++ functions for text_files.lua.

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/data/data_parts.h"
#include "bindings/data/files.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"
#include "src/files/host_file.h"
#include "src/files/number_text.h"

namespace gpulua {

namespace {

constexpr std::size_t longest_text = std::size_t{1} << 30;

std::string path_of(lua_State* L, int index, const char* op) {
  return std::string(check_string(L, index, op, "the path of a file"));
}

/// read_text(op, path): the file's bytes as a string; nil and a message when it cannot be opened.
int read_text(lua_State* L) {
  const std::string op(check_string(L, 1, "read_text", "a name")), path = path_of(L, 2, op.c_str());
  return or_file_failure(L, [&] {
    const FileBytes file(op.c_str(), path, FileAccess::read);
    if (file.bytes().size() > longest_text)
      throw Error("[{}] expected a file of at most 2^30 bytes of text, got {} of {}", op, path, file.bytes().size());
    lua_pushlstring(L, file.bytes().data(), file.bytes().size());
    return 1;
  });
}

/// The strings of the list in the field at the top of the stack; none without the field.
std::vector<std::string> texts_of(lua_State* L, int table, const char* field) {
  std::vector<std::string> texts;
  lua_getfield(L, table, field);
  for (int i = 1; lua_istable(L, -1) && i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
    lua_rawgeti(L, -1, i);
    texts.emplace_back(check_string(L, -1, field, "text"));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return texts;
}

std::int64_t integer_of(lua_State* L, int table, const char* field, std::int64_t otherwise) {
  lua_getfield(L, table, field);
  const double value = lua_isnil(L, -1) ? static_cast<double>(otherwise) : lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value < 0x1p53 ? static_cast<std::int64_t>(value) : otherwise;
}

/// The number that the function at `index` returns for a field; nothing if it returns nil. It returns false if it has
/// failed; the caller has the error then.
std::optional<Scalar> converted(lua_State* L, int index, std::string_view field, std::int64_t column) {
  lua_pushvalue(L, index);
  lua_pushlstring(L, field.data(), field.size());
  lua_pushnumber(L, static_cast<double>(column));
  if (lua_pcall(L, 2, 1, 0) != 0) throw Error(lua_tostring(L, -1));
  const bool has_failed = lua_isboolean(L, -1) && lua_toboolean(L, -1) == 0;
  const std::optional<Scalar> number = to_scalar(L, -1);
  lua_pop(L, 1);
  if (has_failed) throw Error("[converters] a failed converter");
  return number;
}

/// read_number_rows(op, path, options, place): the numbers of a text file, in rows; the fields of `options` are those
/// of NumberTextReading. nil and a message when the file cannot be opened.
int read_number_rows(lua_State* L) {
  const std::string op(check_string(L, 1, "read_number_rows", "a name")), path = path_of(L, 2, op.c_str());
  const ArrayOptions place = check_options(L, 4, op.c_str());
  NumberTextReading reading;
  reading.dtype = place.dtype.value_or(default_dtype(L));
  reading.exact = !place.dtype;
  lua_getfield(L, 3, "delimiter");
  if (!lua_isnil(L, -1)) reading.delimiter = check_string(L, -1, op.c_str(), "a delimiter");
  lua_getfield(L, 3, "one_row");
  reading.one_row = lua_toboolean(L, -1) != 0;
  lua_pop(L, 2);
  reading.comments = texts_of(L, 3, "comments");
  reading.missing = texts_of(L, 3, "missing");
  lua_getfield(L, 3, "filling");
  if (const auto filling = to_scalar(L, -1)) reading.filling = *filling;
  lua_pop(L, 1);
  reading.skipped_lines = integer_of(L, 3, "skipped_lines", 0);
  reading.most_rows = integer_of(L, 3, "most_rows", reading.most_rows);
  reading.skipped_rows_at_end = integer_of(L, 3, "skipped_rows_at_end", 0);
  lua_getfield(L, 3, "columns");
  if (lua_istable(L, -1)) {
    reading.columns.emplace();
    for (int i = 1; i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
      lua_rawgeti(L, -1, i);
      reading.columns->push_back(check_integer(L, -1, op.c_str(), "a column"));
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  lua_getfield(L, 3, "convert");
  const int convert = lua_gettop(L);
  if (!lua_isnil(L, convert))
    reading.convert = [&](std::string_view field, std::int64_t column) { return converted(L, convert, field, column); };
  return or_file_failure(L, [&] {
    const FileBytes file(op.c_str(), path, FileAccess::read);
    const std::span<const char> bytes = file.bytes();
    const NumberRows numbers = read_number_rows(op, {bytes.data(), bytes.size()}, reading, path);
    Array array = empty(*place.device, {numbers.rows, numbers.columns}, reading.dtype);
    if (!numbers.elements.empty()) upload(*array, numbers.elements.data());
    push_array(L, std::move(array));
    return 1;
  });
}

/// write_text(op, path, pieces): a file of the strings in the list.
int write_text(lua_State* L) {
  const std::string op(check_string(L, 1, "write_text", "a name"));
  NewFile file(op.c_str(), path_of(L, 2, op.c_str()));
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 3)); ++i) {
    lua_rawgeti(L, 3, i);
    file.write(check_string(L, -1, op.c_str(), "text"));
    lua_pop(L, 1);
  }
  file.commit();
  lua_pushboolean(L, 1);
  return 1;
}

/// read_elements(op, path, count, offset, options): a vector of `count` elements (-1: all) from the byte `offset` on;
/// nil and a message when the file cannot be opened.
int read_elements(lua_State* L) {
  const std::string op(check_string(L, 1, "read_elements", "a name")), path = path_of(L, 2, op.c_str());
  std::int64_t count = check_integer(L, 3, op.c_str(), "a count");
  const std::int64_t offset = check_integer(L, 4, op.c_str(), "an offset");
  const ArrayOptions options = check_options(L, 5, op.c_str());
  const DType dtype = options.dtype.value_or(default_dtype(L));
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  return or_file_failure(L, [&] {
    const FileBytes file(op.c_str(), path);
    const auto bytes = static_cast<std::int64_t>(file.bytes().size());
    const std::int64_t rest = bytes - offset;
    const std::string found = path + " of " + std::to_string(bytes) + " bytes";
    if (rest < 0) throw Error("[{}] expected an offset in the file, got {} in {}", op, offset, found);
    if (count < 0 && rest % size != 0)
      throw Error("[{}] expected whole elements of {} from byte {} on, got {}", op, name(dtype), offset, found);
    if (count < 0) count = rest / size;
    if (count > rest / size)
      throw Error("[{}] expected {} elements of {} from byte {} on, got {}", op, count, name(dtype), offset, found);
    Array array = empty(*options.device, {count}, dtype);
    if (count > 0) upload(*array, file.bytes().data() + offset);
    push_array(L, std::move(array));
    return 1;
  });
}

/// write_elements(op, path, x): a file of the elements in row-major order.
int write_elements(lua_State* L) {
  const std::string op(check_string(L, 1, "write_elements", "a name")), path = path_of(L, 2, op.c_str());
  const Array& array = check<Array>(L, 3, op.c_str());
  const std::size_t size = array->nbytes();
  const auto bytes = std::make_unique_for_overwrite<char[]>(size);
  download(*array, bytes.get());
  NewFile file(op.c_str(), path);
  file.write({bytes.get(), size});
  file.commit();
  lua_pushboolean(L, 1);
  return 1;
}

}  // namespace

void add_plain_files(lua_State* L) {
  set_functions(L, {{"read_elements", protect<read_elements>},
                    {"read_number_rows", protect<read_number_rows>},
                    {"read_text", protect<read_text>},
                    {"write_elements", protect<write_elements>},
                    {"write_text", protect<write_text>}});
}

}  // namespace gpulua
