#include "bindings/arrays/index.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "bindings/lua/array_type.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/list.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/nil_source.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

constexpr const char* index_op = "index";
constexpr const char* index_forms =
    "an integer, {first, last, step}, a string like \"2:5\", \"...\", gpu.newaxis, or an array of integers or bool";

char new_axis_identity;

/// A range in the script's notation. A missing end is open.
struct Range {
  std::optional<std::int64_t> first, last;
  std::int64_t step = 1;
};

/// `size`: of an array that gets one index alone, as MATLAB's linear index; else 0.
std::int64_t check_position(std::int64_t position, std::int64_t extent, std::size_t axis, std::int64_t size) {
  if (position == 0) throw Error("[index] indices start at 1, got 0");
  const std::int64_t from_zero = position > 0 ? position - 1 : extent + position;
  if (from_zero < 0 || from_zero >= extent)
    throw Error(
        "[index] {} is out of range for axis {} of {} elements{}{}", position, axis + 1, extent,
        axis == 0 && position == extent + 1 ? "; arrays keep their size: gpu.concat({x, y}) makes a longer one" : "",
        position > extent && position <= size
            ? "; x:take(" + std::to_string(position) + ") counts through all elements, one row after the other"
            : "");
  return from_zero;
}

IndexSpec resolve(const Range& range, std::int64_t extent) {
  if (range.first == 0 || range.last == 0) throw Error("[index] indices start at 1, got 0");
  if (range.step == 0) throw Error("[index] expected a step other than 0");
  const auto from_zero = [&](std::int64_t position) { return position > 0 ? position - 1 : extent + position; };
  IndexSpec spec;
  // A step beyond the axis selects only the first position, as a step of the axis's length does.
  spec.step = std::clamp(range.step, -max_elements, max_elements);
  if (spec.step > 0) {
    spec.first = std::max<std::int64_t>(range.first ? from_zero(*range.first) : 0, 0);
    const std::int64_t last = std::min(range.last ? from_zero(*range.last) : extent - 1, extent - 1);
    spec.count = last < spec.first ? 0 : (last - spec.first) / spec.step + 1;
  } else {
    spec.first = std::min(range.first ? from_zero(*range.first) : extent - 1, extent - 1);
    const std::int64_t last = std::max<std::int64_t>(range.last ? from_zero(*range.last) : 0, 0);
    spec.count = last > spec.first ? 0 : (spec.first - last) / -spec.step + 1;
  }
  return spec;
}

/// Warns of ranges that leave an element out where positions count from 0, and ends are no part: here they are whole.
void warn_of_whole(lua_State* L, const Range& range, std::string_view text) {
  if (range.step != 1 || range.first.value_or(1) != 1 || range.last.value_or(-1) != -1) return;
  if (!range.first && !range.last) return;
  Bindings& bindings = bindings_of(L);
  warn_at(bindings.context(), bindings.origin(),
          "[index] expected \":\" for a whole axis, got \"" + std::string(text) +
              "\": positions count from 1, and ends " +
              "belong to the range; \"2:\" leaves the first element out, \":-2\" the last one");
}

/// Warns of MATLAB's first:step:last, where the last position is written in the place of the step: that is beyond the
/// range, and one element is left.
void warn_of_step(lua_State* L, const Range& range, std::int64_t extent, std::string_view text) {
  if (!range.first || !range.last || *range.first < 1 || *range.last <= *range.first) return;
  if (range.step <= *range.last || range.step > extent) return;
  Bindings& bindings = bindings_of(L);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  warn_at(bindings.context(), bindings.origin(),
          "[index] \"" + std::string(text) + "\" is one element: the step " + number(range.step) +
              " is greater than the range; the step comes last, \"" + number(*range.first) + ":" + number(range.step) +
              ":" + number(*range.last) + "\"");
}

/// Parses "2", "2:5", "::-1". Returns nullopt for other text.
std::optional<Range> parse_range(std::string_view text, bool& is_integer) {
  std::optional<std::int64_t> parts[3];
  std::size_t part = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ':') {
      if (++part > 2) return std::nullopt;
      ++at;
      continue;
    }
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    if (parts[part]) return std::nullopt;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), parts[part].emplace());
    if (failure != std::errc()) return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
  }
  is_integer = part == 0;
  if (is_integer && !parts[0]) return std::nullopt;
  return Range{parts[0], parts[1], parts[2].value_or(1)};
}

/// The numbers at stack positions `first` to `last` as text, "2, 5, 7"; empty when one value is not a number.
std::string numbers_text(lua_State* L, int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    if (lua_type(L, i) != LUA_TNUMBER) return {};
    if (i - first == 5) return text + ", ...";
    text += (i > first ? ", " : "") + describe(L, i);
  }
  return text;
}

/// Pushes the list's items and returns their count.
int push_items(lua_State* L, int index) {
  const int length = check_list(L, index, index_op, "indices");
  luaL_checkstack(L, length + 3, "index");
  for (int i = 1; i <= length; ++i) lua_rawgeti(L, index, i);
  return length;
}

/// "; x:take({2, 5, 7}, 1) takes positions"
std::string take_hint(const std::string& numbers, std::size_t axis) {
  if (numbers.empty()) return {};
  const bool is_range = std::count(numbers.begin(), numbers.end(), ',') == 1;
  return "; x:take({" + numbers + "}, " + std::to_string(axis + 1) + ") takes positions" +
         (is_range ? ", x({" + numbers + "}) the range" : "");
}

/// An integer at `index`.
std::int64_t check_position_at(lua_State* L, int index, const char* expected) {
  refuse_fraction(L, index, index_op, expected);
  return check_integer(L, index, index_op, expected);
}

/// Reads a table {first, last[, step]}.
Range check_range(lua_State* L, int index, std::size_t axis) {
  std::optional<std::int64_t> parts[3];
  const int length = push_items(L, index);
  const int first = lua_gettop(L) - length + 1;
  if (length < 2 || length > 3)
    throw Error("[index] expected {{first, last}} or {{first, last, step}}, got a table of {}{}{}", length,
                length == 1 ? " item" : " items", take_hint(numbers_text(L, first, first + length - 1), axis));
  for (int i = 0; i < length; ++i) parts[i] = check_position_at(L, first + i, "integers in {first, last, step}");
  lua_settop(L, first - 1);
  return {parts[0], parts[1], parts[2].value_or(1)};
}

/// The hint for a text that is not a range: "1:n", ":, 1".
std::string text_hint(std::string_view text) {
  if (text.find(',') != text.npos) return "; each axis has a text of its own: x(\":\", 1)";
  if (text.size() >= 10 && text[4] == '-' && text[7] == '-')
    return "; x(t.date:eq(\"" + std::string(text) + "\")) takes the rows of a date";
  if (text.find("end") != text.npos) return "; x[-1] is the last element, and \"2:\" goes to the end";
  const bool has_letter = std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c); });
  return has_letter && text.find(':') != text.npos ? "; variables stand in a table: x({first, last})" : "";
}

/// Reads one spec. `axis`: the axis that it applies to, unless it is an ellipsis or a new axis. `alone`: it is the only
/// one.
IndexSpec check_spec(lua_State* L, int index, const Layout& layout, std::size_t axis, bool alone) {
  IndexSpec spec;
  const std::int64_t extent = axis < layout.ndim() ? layout.shape[axis] : 0;  // past the axes: the spec has no axis
  const auto integer = [&](std::int64_t position) {
    spec.kind = IndexSpec::Kind::integer;
    spec.first = check_position(position, extent, axis, alone && layout.ndim() > 1 ? layout.size() : 0);
  };
  switch (lua_type(L, index)) {
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L, index) != &new_axis_identity) break;
      spec.kind = IndexSpec::Kind::new_axis;
      return spec;
    case LUA_TSTRING: {
      const std::string_view text = check_string(L, index, index_op, index_forms);
      if (text == "...") {
        spec.kind = IndexSpec::Kind::ellipsis;
        return spec;
      }
      bool is_integer = false;
      const auto range = parse_range(text, is_integer);
      if (!range) throw Error("[index] expected {}, got {}{}", index_forms, describe(L, index), text_hint(text));
      if (!is_integer) {
        warn_of_whole(L, *range, text);
        warn_of_step(L, *range, extent, text);
        return resolve(*range, extent);
      }
      integer(*range->first);
      return spec;
    }
    case LUA_TTABLE:
      return resolve(check_range(L, index, axis), extent);
    case LUA_TNUMBER:
    case LUA_TCDATA:
      integer(check_position_at(L, index, index_forms));
      return spec;
    case LUA_TBOOLEAN:
      fail(index_op, std::string(index_forms) + " (x:eq(y) makes a mask: Lua's == gives one boolean)", L, index);
    default:
      break;
  }
  fail(index_op, index_forms, L, index);
}

/// The number of axes that the item at `index` indexes; nullopt for an ellipsis.
std::optional<std::size_t> axes_taken(lua_State* L, int index) {
  if (const Array* array = test_array_or_text(L, index))
    return (*array)->dtype == DType::boolean ? (*array)->layout.ndim() : 1;
  if (lua_type(L, index) == LUA_TSTRING && check_string(L, index, index_op, index_forms) == "...") return std::nullopt;
  return lua_touserdata(L, index) == &new_axis_identity ? 0 : 1;
}

}  // namespace

void refuse_fraction(lua_State* L, int index, const char* op, std::string_view expected) {
  if (lua_type(L, index) != LUA_TNUMBER) return;
  const double number = lua_tonumber(L, index);
  if (std::isfinite(number) && number != std::trunc(number))
    throw Error("[{}] expected {}, got {}; math.floor(i) rounds down to an integer", op, expected, describe(L, index));
}

std::vector<IndexItem> check_index(lua_State* L, int first, int last, const Layout& layout) {
  // Axes after an ellipsis are counted from the last one.
  std::size_t taken = 0;
  for (int i = first; i <= last; ++i)
    if (lua_isnil(L, i)) {
      const std::string variable = about_nil_variable(L);
      throw Error("[index] expected {}, got nil{}", index_forms,
                  variable.empty() ? "; gpu.newaxis makes a dimension" : variable);
    }
  if (first < last && lua_isboolean(L, first) && lua_isboolean(L, last))
    throw Error("[index] expected {}, got booleans; a mask is an array of bool: x[gpu.array{{true, false, true}}]",
                index_forms);
  for (int i = first; i <= last; ++i) taken += axes_taken(L, i).value_or(0);
  if (taken > layout.ndim())
    throw Error("[index] expected at most {} for shape {}, got {}{}",
                layout.ndim() == 1 ? "1 index" : std::to_string(layout.ndim()) + " indices", to_string(layout.shape),
                taken,
                layout.ndim() == 0 ? "; x:item() reads the one element, x:fill_(value) writes it"
                                   : take_hint(numbers_text(L, first, last), 0));
  std::vector<IndexItem> items;
  std::size_t axis = 0;
  for (int i = first; i <= last; ++i) {
    if (const Array* array = test_array_or_text(L, i))
      items.push_back({{}, *array});
    else
      items.push_back({check_spec(L, i, layout, axis, first == last)});
    axis += axes_taken(L, i).value_or(layout.ndim() - taken);
  }
  return items;
}

std::vector<IndexItem> check_key(lua_State* L, int key, const Layout& layout) {
  if (!lua_istable(L, key)) return check_index(L, key, key, layout);
  const int first = lua_gettop(L) + 1;
  const int count = push_items(L, key);
  std::vector<IndexItem> items = check_index(L, first, first + count - 1, layout);
  lua_settop(L, first - 1);
  return items;
}

void check_is_range(lua_State* L, int index) {
  if (!lua_istable(L, index) || lua_objlen(L, index) != 3) return;
  const int first = lua_gettop(L) + 1;
  push_items(L, index);
  const std::string numbers = numbers_text(L, first, first + 2);
  if (!numbers.empty() && lua_tonumber(L, first) > 0 && lua_tonumber(L, first) < lua_tonumber(L, first + 1) &&
      lua_tonumber(L, first + 1) < lua_tonumber(L, first + 2))
    throw Error(
        "[index] expected {{first, last, step}}, got {{{}}}, whose step is beyond the last position{}, x[{{{{{}}}}}] "
        "the range",
        numbers, take_hint(numbers, 0), numbers);
  lua_settop(L, first - 1);
}

bool looks_like_spec(std::string_view text) {
  return !text.empty() &&
         (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == ':' || text[0] == '-' || text[0] == '.');
}

void push_new_axis(lua_State* L) {
  lua_pushlightuserdata(L, &new_axis_identity);
}

}  // namespace gpulua
