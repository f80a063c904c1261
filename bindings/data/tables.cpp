// Files of tables. The C++ functions for files.lua, which checks the options.

#include "bindings/data/tables.h"

#include <map>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/condition.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/data/data_parts.h"
#include "bindings/data/dates.h"
#include "bindings/data/files.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/bytecode_readers.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"
#include "src/files/gzip.h"
#include "src/files/host_file.h"

namespace gpulua {

namespace {

constexpr const char* read_op = "load";
constexpr const char* write_op = "save";

/// Calls `work` with each item of the list in field `name` of the options at `index`, at the top of the stack.
template <class Work>
void for_each_item(lua_State* L, int index, const char* name, const Work& work) {
  lua_getfield(L, index, name);
  if (lua_istable(L, -1)) {
    for (int i = 1; i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
      lua_rawgeti(L, -1, i);
      work();
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

CsvType check_type(lua_State* L) {
  const std::string_view type = check_string(L, -1, read_op, "the name of a dtype, or \"text\"");
  if (type == "text") return CsvText{};
  const DType dtype = parse_dtype(type);
  if (info(dtype).kind == DTypeKind::complex) fail(read_op, "a dtype of real numbers, or \"text\"", L, -1);
  return dtype;
}

std::string text_at(lua_State* L, int index, const char* op, const char* what) {
  return std::string(check_string(L, index, op, what));
}

/// Reads the options of files.lua at `index`.
CsvReading check_reading(lua_State* L, int index) {
  CsvReading options;
  lua_getfield(L, index, "sep");
  options.separator = check_string(L, -1, read_op, "a separator").at(0);
  lua_getfield(L, index, "is_usual_sep");
  options.is_usual_separator = lua_toboolean(L, -1) != 0;
  lua_getfield(L, index, "header");
  if (!lua_isnil(L, -1)) options.header = lua_toboolean(L, -1) != 0;
  lua_getfield(L, index, "skip");
  options.skip = check_integer(L, -1, read_op, "a number of lines to skip");
  lua_getfield(L, index, "dtype");
  if (!lua_isnil(L, -1)) {
    const CsvType type = check_type(L);
    if (!std::holds_alternative<DType>(type)) fail(read_op, "the name of a dtype, or a table of them by column", L, -1);
    options.dtype = std::get<DType>(type);
  }
  lua_pop(L, 5);
  for_each_item(L, index, "columns", [&] {
    if (lua_type(L, -1) == LUA_TNUMBER)
      options.columns.emplace_back(check_integer(L, -1, read_op, "a column's name or position"));
    else
      options.columns.emplace_back(text_at(L, -1, read_op, "a column's name or position"));
  });
  const auto read_texts = [&](const char* name, std::vector<std::string>& texts) {
    for_each_item(L, index, name, [&] { texts.push_back(text_at(L, -1, read_op, "a text")); });
  };
  read_texts("missing", options.numbers.missing);
  read_texts("symbols", options.numbers.symbols);
  lua_getfield(L, index, "parentheses");
  options.numbers.parentheses = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  read_texts("names", options.names);
  lua_getfield(L, index, "decimal");
  options.numbers.decimal = check_string(L, -1, read_op, "decimal").at(0);
  lua_getfield(L, index, "thousands");
  if (!lua_isnil(L, -1)) options.numbers.thousands = check_string(L, -1, read_op, "thousands").at(0);
  lua_getfield(L, index, "comments");
  if (!lua_isnil(L, -1)) options.comments = check_string(L, -1, read_op, "comments");
  lua_getfield(L, index, "max_rows");
  if (!lua_isnil(L, -1)) options.max_rows = check_integer(L, -1, read_op, "max_rows");
  lua_pop(L, 4);
  lua_getfield(L, index, "types");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) fail(read_op, "the name of a column in dtype", L, -2);
    options.types.emplace(lua_tostring(L, -2), check_type(L));
  }
  lua_pop(L, 1);
  lua_getfield(L, index, "dates");
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    CsvDates dates{text_at(L, -1, read_op, "a format of dates")};
    check_date_format(read_op, dates.format, !dates.format.empty());
    options.types.insert_or_assign(lua_tostring(L, -2), std::move(dates));
  }
  lua_pop(L, 1);
  return options;
}

}  // namespace

void push_columns(lua_State* L, CsvTable table, OpenDevice& device) {
  lua_createtable(L, static_cast<int>(table.columns.size()), 0);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    CsvColumnData& column = table.columns[i];
    lua_createtable(L, 3, 0);
    lua_pushlstring(L, column.name.data(), column.name.size());
    lua_rawseti(L, -2, 1);
    Array array = empty(device, {table.rows}, column.dtype);
    if (table.rows > 0) upload(*array, column.memory.data());
    column.memory = {};
    push_array(L, std::move(array));
    lua_rawseti(L, -2, 2);
    if (column.texts) {
      lua_createtable(L, static_cast<int>(column.texts->size()), 0);
      for (std::size_t k = 0; k < column.texts->size(); ++k) {
        lua_pushlstring(L, (*column.texts)[k].data(), (*column.texts)[k].size());
        lua_rawseti(L, -2, static_cast<int>(k + 1));
      }
      lua_rawseti(L, -2, 3);
    }
    if (column.dates) {
      push_date_kind(L, *column.dates);
      lua_rawseti(L, -2, 3);
    }
    if (column.text_field) {
      lua_createtable(L, 0, 3);
      lua_pushlstring(L, column.text_field->text.data(), column.text_field->text.size());
      lua_setfield(L, -2, "text");
      lua_pushnumber(L, static_cast<double>(column.text_field->line));
      lua_setfield(L, -2, "line");
      lua_pushboolean(L, column.text_field->is_quoted ? 1 : 0);
      lua_setfield(L, -2, "is_quoted");
      lua_rawseti(L, -2, 4);
    }
    lua_rawseti(L, -2, static_cast<int>(i + 1));
  }
}

HostColumns check_columns(lua_State* L, int index, const char* op) {
  HostColumns result;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    const int entry = lua_gettop(L);
    lua_rawgeti(L, entry, 1);
    lua_rawgeti(L, entry, 2);
    lua_rawgeti(L, entry, 3);
    const Array& array = check<Array>(L, entry + 2, op);
    const std::size_t size = array->nbytes();
    result.memory.push_back(std::make_unique_for_overwrite<char[]>(size));
    download(*array, result.memory.back().get());
    CsvOutput column{text_at(L, entry + 1, op, "a name"),
                     array->dtype,
                     {result.memory.back().get(), size},
                     std::nullopt,
                     std::nullopt};
    if (lua_istable(L, entry + 3)) column.dates = test_date_kind(L, entry + 3);
    if (lua_istable(L, entry + 3) && !column.dates) {
      column.texts.emplace();
      for (int k = 1; k <= static_cast<int>(lua_objlen(L, entry + 3)); ++k) {
        lua_rawgeti(L, entry + 3, k);
        column.texts->push_back(text_at(L, -1, op, "a text"));
        lua_pop(L, 1);
      }
    }
    result.columns.push_back(std::move(column));
    lua_settop(L, entry - 1);
  }
  return result;
}

namespace {

/// read_csv(path, {device, mmap, ...}): a list of columns as in tables.h; nil and a message when the file
/// cannot be opened.
int read_table(lua_State* L) {
  const std::string path = text_at(L, 1, read_op, "the path of a file");
  const CsvReading options = check_reading(L, 2);
  lua_getfield(L, 2, "mmap");
  const FileAccess access = lua_toboolean(L, -1) != 0 ? FileAccess::map : FileAccess::read;
  lua_getfield(L, 2, "place");
  const ArrayOptions place = check_options(L, lua_gettop(L), read_op);
  return or_file_failure(L, [&] {
    CsvTable table;
    {
      const FileBytes file(read_op, path, access);
      table = is_gzip(file.bytes()) ? read_csv(gunzip(file.bytes(), path), options, path)
                                    : read_csv(file.bytes(), options, path);
    }
    push_columns(L, std::move(table), *place.device);
    return 1;
  });
}

/// write_csv(path, columns, rows, {sep, header, missing}): the columns as read_csv gives them.
int write_table(lua_State* L) {
  const std::string path = text_at(L, 1, write_op, "the path of a file");
  const std::int64_t rows = check_integer(L, 3, write_op, "a number");
  CsvWriting options;
  lua_getfield(L, 4, "sep");
  options.separator = check_string(L, -1, write_op, "a separator").at(0);
  lua_getfield(L, 4, "header");
  options.header = lua_toboolean(L, -1) != 0;
  lua_getfield(L, 4, "missing");
  options.missing = text_at(L, -1, write_op, "a text for missing");
  const HostColumns columns = check_columns(L, 2, write_op);
  save_csv(path, columns.columns, rows, options);
  lua_pushboolean(L, 1);
  return 1;
}

/// check_use(name, is_mask): an error where the script uses the column t.name as Lua's condition or beside ==.
int check_use_of_column(lua_State* L) {
  refuse_condition_of_column(L, std::string(check_string(L, 1, "table", "a name")), lua_toboolean(L, 2) != 0);
  return 0;
}

/// parsed_functions(): see push_parsed_functions().
int parsed_functions(lua_State* L) {
  push_parsed_functions(L);
  return 1;
}

}  // namespace

void add_tables(lua_State* L) {
  set_functions(L, {{"read_csv", protect<read_table>},
                    {"write_csv", protect<write_table>},
                    {"check_use", protect<check_use_of_column>},
                    {"parsed_functions", protect<parsed_functions>}});
  add_text_columns(L);
  add_dates(L);
}

}  // namespace gpulua
