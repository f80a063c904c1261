// Elements between arrays and the host's own values: tables, numbers, FFI arrays.

#include "bindings/arrays/host_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/equal_neighbours.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/usual_nans.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/cdata.h"
#include "bindings/lua/list.h"
#include "bindings/lua/state.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/ops/promotion.h"
#include "src/runtime/context.h"
#include "src/runtime/counted_memory.h"

namespace gpulua {

namespace {

/// The position in nested tables, " at [2][1]"; empty for a value outside of tables.
std::string position_text(const std::vector<int>& position) {
  std::string text = position.empty() ? "" : " at ";
  for (int i : position) text += "[" + std::to_string(i) + "]";
  return text;
}

/// Whether the value is a text with several numbers, as one read from a file is.
bool has_numbers(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  const std::string_view text = lua_tostring(L, index);
  const std::size_t first = text.find_first_of("0123456789");
  const std::size_t gap = text.find_first_of(" ,;\t\n", first);
  return first != text.npos && gap != text.npos && text.find_first_of("0123456789", gap) != text.npos &&
         text.find_first_not_of("0123456789+-.eE ,;\t\n") == text.npos;
}

/// Throws Error when the script is to stop. A table may be an element of itself many times over, so that a few of them
/// stand for more elements than any memory has.
void check_goes_on(lua_State* L, const char* op) {
  if (bindings_of(L).context().interrupted().load(std::memory_order_relaxed))
    throw Error(ErrorKind::interrupted, "[{}] interrupted", op);
}

/// Host memory for the elements of an array on their way. In a sandbox it counts in the device's budget.
class HostStaging {
 public:
  explicit HostStaging(const Node& array) {
    if (!array.device().context().rights.trusted) counted_.emplace(array.device_ref(), array.nbytes());
    bytes_.resize(array.nbytes());
  }
  char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::optional<CountedMemory> counted_;
  std::vector<char> bytes_;
};

/// An element of a table: as to_scalar, but also the number of a weak array.
std::optional<Scalar> number_at(lua_State* L, int index) {
  if (is_weak_number(L, index)) return item(**test<Array>(L, index));
  return to_scalar(L, index);
}

// ---- a table's shape and the kinds of its elements
// ---------------------------------------------------------------------------

class TableScan {
 public:
  /// `looks_for_equal`: neighbours that float32 makes equal are looked for.
  TableScan(lua_State* L, const char* op, bool looks_for_equal) : L_(L), op_(op), looks_for_equal_(looks_for_equal) {}

  Dims shape;

  /// Reads the nested table at the top of the stack.
  void scan() {
    if (!lua_istable(L_, -1)) {
      if (position_.size() != shape.size()) fail_ragged();
      note_element();
      return;
    }
    check_goes_on(L_, op_);
    if (lua_objlen(L_, -1) == 0) refuse_object();
    const std::int64_t extent = check_list(L_, -1, op_, "elements");
    if (position_.size() == shape.size()) {
      if (found_element_) fail_ragged();
      if (shape.size() == max_ndim) throw Error("[{}] the table nests deeper than 64 levels", op_);
      shape.push_back(extent);
    } else if (shape[position_.size()] != extent) {
      fail_ragged();
    }
    luaL_checkstack(L_, 2, "nested tables");
    for (int i = 1; i <= extent; ++i) {
      position_.push_back(i);
      lua_rawgeti(L_, -1, i);
      scan();
      lua_pop(L_, 1);
      position_.pop_back();
    }
    equal_.end(position_.size());
  }

  /// Warns at the script's line where neighbours that differ are equal in float32, a dtype that the script did not ask
  /// for.
  void warn_of_equal() const {
    if (equal_.text().empty()) return;
    Bindings& bindings = bindings_of(L_);
    warn_at(bindings.context(), bindings.origin(), "equal neighbours",
            fmt::format("[{}] {} are equal in float32; gpu.array(t, \"float64\") or gpu.default_dtype \"float64\" "
                        "keeps them apart",
                        op_, equal_.text()));
  }

  /// Throws Error where the table has true or false beside numbers, or has them and `takes_booleans` is false.
  void check_booleans(bool takes_booleans) const {
    const bool others = numbers_ || signed_ || unsigned_ || complex_;
    if (!booleans_ || (takes_booleans && !others)) return;
    throw Error("[{}] expected numbers{}, got {}{}; x:eq(y) compares an array's elements, Lua's == gives one boolean",
                op_, takes_booleans ? " alone, or booleans alone" : "", boolean_ ? "true" : "false",
                position_text(boolean_position_));
  }

  DType dtype() const {
    const bool integers = signed_ || unsigned_;
    if (integers && (complex_ || !whole_))
      throw Error(
          "[{}] expected integers alone beside those of the FFI, which are exact, got {}; a dtype beside the table "
          "settles it, \"float64\"",
          op_, complex_ ? "a complex number" : "a fraction");
    if (complex_) return complex_of(default_dtype(L_));
    if (integers) return unsigned_ ? DType::uint64 : DType::int64;
    if (booleans_ && !numbers_) return DType::boolean;
    // Integers can be dates, identifiers or bits, which must not be rounded.
    const DType real = default_dtype(L_);
    if (inexact_ && whole_ && real == DType::float32)
      throw Error(
          "[{}] expected integers that float32, the dtype of a table's numbers, takes, got {}{}; a dtype beside the "
          "table takes them, \"int64\", or \"float32\" rounds them",
          op_, to_string(Scalar(*inexact_)), position_text(inexact_position_));
    return real;
  }

 private:
  /// Throws Error where the value at the top of the stack is a table of columns.
  void refuse_columns() {
    const std::string object = describe(L_, -1);
    if (object == "a table of columns")
      throw Error("[{}] expected numbers, got {}; t.name is the array of one, t:matrix(names) the matrix of several",
                  op_, object);
  }

  /// Throws Error where the table at the top of the stack is an object of the library that is no list.
  void refuse_object() {
    const std::string object = describe(L_, -1);
    if (object != "a table" && !object.starts_with("a list")) throw Error("[{}] expected numbers, got {}", op_, object);
  }

  [[noreturn]] void fail_ragged() {
    std::string got = lua_istable(L_, -1) ? std::to_string(lua_objlen(L_, -1)) + " items" : describe(L_, -1);
    const std::string expected =
        position_.size() < shape.size() ? std::to_string(shape[position_.size()]) + " items" : "one element";
    throw Error("[{}] expected tables of one shape: {}{}, as before it, got {}", op_, expected,
                position_text(position_), got);
  }

  void note_element() {
    found_element_ = true;
    switch (lua_type(L_, -1)) {
      case LUA_TNUMBER:
        numbers_ = true;
        note_number(lua_tonumber(L_, -1));
        return;
      case LUA_TBOOLEAN:
        if (!booleans_) boolean_position_ = position_;
        if (!booleans_) boolean_ = lua_toboolean(L_, -1) != 0;
        booleans_ = true;
        return;
      default:
        break;
    }
    const auto value = number_at(L_, -1);
    if (!value && test<Array>(L_, -1) && !position_.empty())
      throw Error("[{}] expected numbers{}, got {}; gpu.stack(t) makes one array of a table of arrays", op_,
                  position_text(position_), describe(L_, -1));
    if (!value) refuse_columns();
    if (!value && position_.empty() && has_numbers(L_, -1))
      throw Error(
          "[{}] expected a number or a list of numbers, {{1, 2, 3}}, got {}; for word in text:gmatch \"[^%s,]+\" do "
          "t[#t + 1] = tonumber(word) end makes a list of a text",
          op_, describe(L_, -1));
    if (!value) fail(op_, "a number, a boolean or a complex number" + position_text(position_), L_, -1);
    signed_ = signed_ || std::holds_alternative<std::int64_t>(*value);
    unsigned_ = unsigned_ || std::holds_alternative<std::uint64_t>(*value);
    complex_ = complex_ || std::holds_alternative<std::complex<double>>(*value);
    if (const auto* number = std::get_if<double>(&*value)) {  // a weak one
      numbers_ = true;
      note_number(*number);
    }
  }

  void note_number(double number) {
    if (looks_for_equal_) equal_.note(number, position_);
    whole_ = whole_ && number == std::trunc(number);
    if (inexact_ || std::abs(number) >= 0x1p53 || static_cast<float>(number) == number || std::isnan(number)) return;
    inexact_ = number;
    inexact_position_ = position_;
  }

  lua_State* L_;
  const char* op_;
  std::vector<int> position_;
  std::optional<double> inexact_;  // the first below 2^53 that float32 rounds
  std::vector<int> inexact_position_;
  const bool looks_for_equal_;
  EqualNeighbours equal_;
  bool boolean_ = false;  // the first
  std::vector<int> boolean_position_;
  bool whole_ = true;  // all numbers are integers
  bool found_element_ = false;
  bool booleans_ = false, numbers_ = false, signed_ = false, unsigned_ = false, complex_ = false;
};

/// Writes the elements of the nested table at the top of the stack to `out` and advances `out`.
void encode_table(lua_State* L, DType dtype, Overflow overflow, char*& out, std::vector<int>& position,
                  const char* op) {
  if (lua_istable(L, -1)) {
    check_goes_on(L, op);
    const int extent = static_cast<int>(lua_objlen(L, -1));
    for (int i = 1; i <= extent; ++i) {
      position.push_back(i);
      lua_rawgeti(L, -1, i);
      encode_table(L, dtype, overflow, out, position, op);
      lua_pop(L, 1);
      position.pop_back();
    }
    return;
  }
  try {
    const Scalar number = *number_at(L, -1);
    if (overflow == Overflow::refused) check_stored(dtype, number);
    encode(dtype, number, out);
  } catch (const Error& error) {
    throw Error("{}{}", error.what(), position_text(position));
  }
  out += size_of(dtype);
}

/// The shape of an FFI array, from the name of its type: "double [2][3]". A variable length follows from the number of
/// elements.
Dims cdata_shape(const CData& value) {
  Dims shape;
  std::int64_t known = 1;
  for (std::size_t at = value.type.find('['); at != std::string::npos; at = value.type.find('[', at + 1)) {
    shape.push_back(std::strtoll(value.type.c_str() + at + 1, nullptr, 10));
    if (value.type[at + 1] == '?') shape.back() = -1;
    if (shape.back() > 0) known *= shape.back();
  }
  for (std::int64_t& extent : shape)
    if (extent < 0) extent = static_cast<std::int64_t>(value.count()) / known;
  return shape;
}

Array array_from_cdata(const CData& value, const ArrayOptions& options, const char* op) {
  if (value.kind != CData::Kind::array || !value.element) {
    const bool has_elements = value.kind == CData::Kind::pointer && value.element;
    if (value.is_struct())
      throw Error(
          "[{}] expected a table or an FFI array of numbers, got {}; x:copy_from(s) copies its bytes to an array of "
          "uint8",
          op, value.type_text());
    throw Error("[{}] expected a table or an FFI array of numbers, got an FFI value of type {}{}", op, value.type,
                has_elements ? "; a pointer does not tell how many there are: gpu.empty(count, \"" +
                                   std::string(name(*value.element)) + "\"):copy_from(p)"
                             : "");
  }
  Array array = empty(*options.device, cdata_shape(value), *value.element);
  upload(*array, value.data);
  return options.dtype && *options.dtype != *value.element ? astype(array, *options.dtype) : array;
}

int push_nested(lua_State* L, Node& array, std::size_t axis, const char*& from) {
  if (axis == array.layout.ndim()) {
    push_scalar(L, decode(array.dtype, from));
    from += array.itemsize();
    return 1;
  }
  const auto extent = static_cast<int>(array.layout.shape[axis]);
  luaL_checkstack(L, 4, "nested tables");
  lua_createtable(L, extent, 0);
  for (int i = 1; i <= extent; ++i) {
    push_nested(L, array, axis + 1, from);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

/// Replaces the elements of the nested table at the top of the stack by those at `from` and advances `from`.
void decode_into_table(lua_State* L, Node& array, const char*& from, const char* end) {
  const int extent = static_cast<int>(lua_objlen(L, -1));
  for (int i = 1; i <= extent && from < end; ++i) {
    lua_rawgeti(L, -1, i);
    if (lua_istable(L, -1)) {
      decode_into_table(L, array, from, end);
      lua_pop(L, 1);
      continue;
    }
    lua_pop(L, 1);
    push_scalar(L, decode(array.dtype, from));
    lua_rawseti(L, -2, i);
    from += array.itemsize();
  }
}

}  // namespace

Array array_from_host(lua_State* L, int index, const ArrayOptions& options, const char* op, bool takes_booleans,
                      Overflow overflow) {
  if (const auto value = to_cdata(L, index); value && value->kind != CData::Kind::number)
    return array_from_cdata(*value, options, op);
  lua_pushvalue(L, index);
  TableScan scan(L, op, !options.dtype && default_dtype(L) == DType::float32);
  scan.scan();
  // A table of booleans alone is converted to the dtype that stands beside it. One boolean may be a comparison in Lua.
  const bool converts = options.dtype.value_or(DType::boolean) == DType::boolean || lua_istable(L, index);
  scan.check_booleans(takes_booleans && converts);
  const DType dtype = options.dtype ? *options.dtype : scan.dtype();
  if (dtype == DType::float32) scan.warn_of_equal();
  Array array = empty(*options.device, scan.shape, dtype);
  HostStaging bytes(*array);
  char* out = bytes.data();
  std::vector<int> position;
  encode_table(L, array->dtype, overflow, out, position, op);
  lua_pop(L, 1);
  Evaluator& evaluator = array->device().evaluator();
  // The library uploads addresses, which differ from step to step.
  const bool is_noted = evaluator.capture() && !bindings_of(L).origin().in_library;
  for (std::size_t at = 0; is_noted && at < bytes.size(); at += array->itemsize())
    evaluator.note_number(decode(array->dtype, bytes.data() + at));
  upload(*array, bytes.data());
  return array;
}

void array_to_host(lua_State* L, int index, Node& array, const char* op) {
  if (const auto value = to_cdata(L, index)) {
    if (value->kind != CData::Kind::array || value->element != array.dtype || value->bytes != array.nbytes())
      throw Error("[{}] expected an FFI array for {}, got an FFI value of type {}", op, type_text(array), value->type);
    download_for_ffi(array, value->data);
    return;
  }
  if (!lua_istable(L, index)) fail(op, "a table or an FFI array", L, index);
  HostStaging bytes(array);
  download(array, bytes.data());
  const char* from = bytes.data();
  lua_pushvalue(L, index);
  decode_into_table(L, array, from, from + bytes.size());
  lua_pop(L, 1);
}

void push_table(lua_State* L, Node& array) {
  // For a larger table Lua would raise an error across C++ frames.
  constexpr std::int64_t most_items = 1 << 26;
  const Dims& shape = array.layout.shape;
  if (array.layout.size() > most_items ||
      std::any_of(shape.begin(), shape.end(), [&](std::int64_t extent) { return extent > most_items; }))
    throw Error(
        "[table] expected an array of at most {} elements, as many as a Lua table takes, got {}; x:host() gives an FFI "
        "array, a range of x fewer elements",
        most_items, type_text(array));
  HostStaging bytes(array);
  download(array, bytes.data());
  const char* from = bytes.data();
  push_nested(L, array, 0, from);
}

}  // namespace gpulua
