// Dates as text. The C++ functions for date_column.lua.

#include "bindings/data/dates.h"

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/lua_array.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"
#include "src/files/date_text.h"

namespace gpulua {

namespace {

DateUnit check_unit(lua_State* L, int index, const char* op) {
  const auto unit = date_unit(check_string(L, index, op, "a unit of dates"));
  if (!unit) fail(op, "a unit of dates: days, s, ms, us or ns", L, index);
  return *unit;
}

/// parse_dates(op, texts, format or nil, unit or nil, {device} [, is_list]): an array of the dates and their unit;
/// without one the coarsest that has them all. Empty texts and NaT are missing. `is_list`: messages have positions in
/// the texts.
int parse_dates(lua_State* L) {
  const std::string name(check_string(L, 1, "dates", "the name of a function"));
  const char* const op = name.c_str();
  const std::string format(lua_isnoneornil(L, 3) ? "" : check_string(L, 3, op, "a format of dates"));
  if (!format.empty()) check_date_format(op, format, true);
  const bool is_list = lua_toboolean(L, 6) != 0;
  lua_settop(L, 5);
  std::vector<std::optional<Moment>> moments;
  DateUnit unit = DateUnit::days;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 2)); ++i) {
    lua_rawgeti(L, 2, i);
    const auto refuse = [&](std::string_view expected, const std::string& advice) {
      throw Error("[{}] expected {}, got {}{}{}", op, expected, describe(L, -1),
                  is_list ? " at [" + std::to_string(i) + "]" : "", advice);
    };
    if (lua_type(L, -1) != LUA_TSTRING) refuse("dates as texts", "");
    const std::string_view text = check_string(L, -1, op, "dates as texts");
    moments.push_back(parse_date(text, format));
    if (!moments.back() && !text.empty() && text != "NaT") {
      if (has_date_form(text, format)) refuse("a date that exists", "");
      const auto reads = [](const std::string& usual) { return "gpu.dates(x, {format = \"" + usual + "\"})"; };
      refuse(format.empty() ? "a date as 2024-03-01 or 2024-03-01 12:30:00" : "a date as \"" + format + "\" has them",
             name == "dates" ? date_advice(text, reads) : "");
    }
    if (moments.back()) unit = std::max(unit, moments.back()->unit);
    lua_pop(L, 1);
  }
  if (!lua_isnoneornil(L, 4)) unit = check_unit(L, 4, op);
  std::vector<std::int64_t> counts;
  for (const auto& moment : moments) {
    const auto count = moment ? count_of(*moment, unit) : missing_date;
    if (!count)
      throw Error("[{}] expected dates in the range of 64 bits in {}, got the year of day {}", op, gpulua::name(unit),
                  moment->day);
    counts.push_back(*count);
  }
  const ArrayOptions place = check_options(L, 5, op);
  Array array = empty(*place.device, {static_cast<std::int64_t>(counts.size())}, DType::int64);
  if (!counts.empty()) upload(*array, counts.data());
  push_array(L, std::move(array));
  const std::string_view unit_name = gpulua::name(unit);
  lua_pushlstring(L, unit_name.data(), unit_name.size());
  return 2;
}

/// has_date_form(text): whether a text is written as a date in ISO 8601, though there may be no such day or time.
int has_form(lua_State* L) {
  lua_pushboolean(L, has_date_form(check_string(L, 1, "load", "a text")) ? 1 : 0);
  return 1;
}

/// date_formats(text): a list of the formats that read the text, the likeliest first.
int lua_date_formats(lua_State* L) {
  const std::vector<std::string> formats = date_formats(check_string(L, 1, "load", "a text"));
  lua_createtable(L, static_cast<int>(formats.size()), 0);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    lua_pushlstring(L, formats[i].data(), formats[i].size());
    lua_rawseti(L, -2, static_cast<int>(i + 1));
  }
  return 1;
}

/// format_dates(op, x, kind, format or nil): a list of texts. Waits.
int format_dates(lua_State* L) {
  const std::string name(check_string(L, 1, "format", "the name of a function"));
  const char* const op = name.c_str();
  const Array array = check<Array>(L, 2, op);
  const DateKind kind = test_date_kind(L, 3).value_or(DateKind{});
  const std::string format(lua_isnoneornil(L, 4) ? ""
                                                 : check_string(L, 4, op, "a format of dates, such as \"%d.%m.%Y\""));
  check_date_format(op, format, false);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(array->layout.size()));
  if (!counts.empty()) download(*array, counts.data());
  lua_createtable(L, static_cast<int>(counts.size()), 0);
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text.clear();
    if (kind.is_duration)
      append_duration(text, counts[i], kind.unit);
    else
      append_date(text, counts[i], kind.unit, format);
    lua_pushlstring(L, text.data(), text.size());
    lua_rawseti(L, -2, static_cast<int>(i + 1));
  }
  return 1;
}

}  // namespace

void push_date_kind(lua_State* L, DateKind kind) {
  lua_createtable(L, 0, 2);
  const std::string_view unit = name(kind.unit);
  lua_pushlstring(L, unit.data(), unit.size());
  lua_setfield(L, -2, "unit");
  if (!kind.is_duration) return;
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "duration");
}

std::optional<DateKind> test_date_kind(lua_State* L, int index) {
  DateKind kind;
  lua_getfield(L, index, "unit");
  const bool has_unit = lua_type(L, -1) == LUA_TSTRING;
  if (has_unit) kind.unit = check_unit(L, -1, "table");
  lua_getfield(L, index, "duration");
  kind.is_duration = lua_toboolean(L, -1) != 0;
  lua_pop(L, 2);
  return has_unit ? std::optional(kind) : std::nullopt;
}

void add_dates(lua_State* L) {
  set_functions(L, {{"parse_dates", protect<parse_dates>},
                    {"date_formats", protect<lua_date_formats>},
                    {"has_date_form", protect<has_form>},
                    {"format_dates", protect<format_dates>}});
}

}  // namespace gpulua
