#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "src/array/layout.h"
#include "src/base/error.h"
#include "src/files/arrow.h"
#include "src/files/csv_column.h"

namespace gpulua::arrow {

namespace {

constexpr std::string_view formats = "cCsSiIlLefg";
constexpr DType dtypes[] = {DType::int8,  DType::uint8,  DType::int16,   DType::uint16,  DType::int32,  DType::uint32,
                            DType::int64, DType::uint64, DType::float16, DType::float32, DType::float64};

bool bit_at(const void* bits, std::int64_t at) {
  return (static_cast<const unsigned char*>(bits)[at / 8] >> (at % 8) & 1) != 0;
}

/// A column of the producer's, with its place in the structs.
struct Source {
  const Schema& schema;
  const Array& array;
  std::string name;
  std::int64_t offset, rows;  // of the rows that count

  /// Of the row, which counts from the first one.
  bool is_null(std::int64_t row) const {
    return array.n_buffers > 0 && array.buffers[0] != nullptr && array.null_count != 0 &&
           !bit_at(array.buffers[0], offset + row);
  }
  bool has_nulls() const {
    for (std::int64_t row = 0; row < rows; ++row)
      if (is_null(row)) return true;
    return false;
  }
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    throw Error("[from_arrow] expected {} in column {}, got {}", expected, name, got);
  }
  const void* buffer(std::int64_t i) const {
    if (array.n_buffers <= i || (rows > 0 && array.buffers[i] == nullptr))
      fail(std::to_string(i + 1) + " buffers", std::to_string(array.n_buffers));
    return array.buffers[i];
  }
};

std::vector<std::uint64_t> memory_of(std::int64_t rows, std::size_t size) {
  return std::vector<std::uint64_t>((static_cast<std::size_t>(rows) * size + 7) / 8);
}

template <class T>
T element(const void* buffer, std::int64_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + static_cast<std::size_t>(at) * sizeof(T), sizeof(T));
  return value;
}

/// An integer element.
std::uint64_t bits_of(DType dtype, const void* buffer, std::int64_t at) {
  switch (dtype) {
    case DType::int8:
      return static_cast<std::uint64_t>(element<std::int8_t>(buffer, at));
    case DType::int16:
      return static_cast<std::uint64_t>(element<std::int16_t>(buffer, at));
    case DType::int32:
      return static_cast<std::uint64_t>(element<std::int32_t>(buffer, at));
    case DType::uint8:
      return element<std::uint8_t>(buffer, at);
    case DType::uint16:
      return element<std::uint16_t>(buffer, at);
    case DType::uint32:
      return element<std::uint32_t>(buffer, at);
    default:
      return element<std::uint64_t>(buffer, at);
  }
}

constexpr std::uint64_t nan_bits = 0x7ff8000000000000;

/// Integers and booleans with nulls, as float64.
void read_with_nulls(const Source& source, DType dtype, CsvColumnData& column) {
  constexpr double most_exact = 9007199254740992.0;
  column.dtype = DType::float64;
  column.memory = memory_of(source.rows, sizeof(double));
  const void* const buffer = source.buffer(1);
  for (std::int64_t row = 0; row < source.rows; ++row) {
    std::uint64_t& slot = column.memory[static_cast<std::size_t>(row)];
    slot = nan_bits;
    if (source.is_null(row)) continue;
    double value = 0;
    if (dtype == DType::boolean) {
      value = bit_at(buffer, source.offset + row);
    } else {
      const std::uint64_t bits = bits_of(dtype, buffer, source.offset + row);
      value = dtype == DType::uint64 ? static_cast<double>(bits) : static_cast<double>(static_cast<std::int64_t>(bits));
      if (value > most_exact || value < -most_exact)
        source.fail("no nulls beside integers beyond 2^53, which float64 would round", "both");
    }
    slot = std::bit_cast<std::uint64_t>(value);
  }
}

void read_numbers(const Source& source, DType dtype, CsvColumnData& column) {
  const bool is_floating = info(dtype).kind == DTypeKind::floating;
  if (!is_floating && source.has_nulls()) return read_with_nulls(source, dtype, column);
  const std::size_t size = size_of(dtype), count = static_cast<std::size_t>(source.rows);
  column.dtype = dtype;
  column.memory = memory_of(source.rows, size);
  char* const to = reinterpret_cast<char*>(column.memory.data());
  const void* const buffer = source.buffer(1);
  if (dtype == DType::boolean) {
    for (std::size_t row = 0; row < count; ++row)
      to[row] = bit_at(buffer, source.offset + static_cast<std::int64_t>(row));
    return;
  }
  if (count > 0)
    std::memcpy(to, static_cast<const char*>(buffer) + static_cast<std::size_t>(source.offset) * size, count * size);
  if (!is_floating) return;
  const std::uint64_t nan = dtype == DType::float64 ? nan_bits : dtype == DType::float32 ? 0x7fc00000 : 0x7e00;
  for (std::size_t row = 0; row < count; ++row)
    if (source.is_null(static_cast<std::int64_t>(row))) std::memcpy(to + row * size, &nan, size);
}

/// The text at a row of a column of text.
std::string_view text_at(const Source& source, std::int64_t row) {
  const std::int64_t at = source.offset + row;
  std::int64_t first = 0, last = 0;
  if (source.schema.format[0] == 'u') {
    first = element<std::int32_t>(source.buffer(1), at);
    last = element<std::int32_t>(source.buffer(1), at + 1);
  } else {
    first = element<std::int64_t>(source.buffer(1), at);
    last = element<std::int64_t>(source.buffer(1), at + 1);
  }
  if (first < 0 || last < first) source.fail("ascending offsets", "others");
  if (first == last) return {};
  return {static_cast<const char*>(source.buffer(2)) + first, static_cast<std::size_t>(last - first)};
}

bool is_text(std::string_view format) {
  return format == "u" || format == "U";
}

/// `index_of(row)`: the row of `texts` that a row of the column has; -1 for none.
template <class IndexOf>
void read_texts(const Source& source, const Source& texts, CsvColumnData& column, const IndexOf& index_of) {
  TextNumbers numbers;
  std::vector<std::uint32_t> found(static_cast<std::size_t>(source.rows));
  for (std::int64_t row = 0; row < source.rows; ++row) {
    const std::int64_t index = source.is_null(row) ? -1 : index_of(row);
    const bool is_there = index >= 0 && !texts.is_null(index);
    if (index >= texts.rows)
      source.fail("positions in a dictionary of " + std::to_string(texts.rows), std::to_string(index));
    found[static_cast<std::size_t>(row)] = numbers.number_of(is_there ? text_at(texts, index) : std::string_view());
  }
  const std::vector<std::uint32_t> places = numbers.sort();
  column.texts = numbers.take();
  column.dtype = DType::int32;
  column.memory = memory_of(source.rows, sizeof(std::int32_t));
  for (std::size_t row = 0; row < found.size(); ++row) {
    const std::uint32_t place = places[found[row]] + 1;
    std::memcpy(reinterpret_cast<char*>(column.memory.data()) + row * sizeof place, &place, sizeof place);
  }
}

struct TimeFormat {
  std::string_view format;
  DateKind kind;
};
/// Those of the interface for dates and durations in int64, without the timezone, whose dates are UTC's as well.
constexpr TimeFormat times[] = {{"tss:", {DateUnit::seconds, false}},      {"tsm:", {DateUnit::milliseconds, false}},
                                {"tsu:", {DateUnit::microseconds, false}}, {"tsn:", {DateUnit::nanoseconds, false}},
                                {"tdm", {DateUnit::milliseconds, false}},  {"tDs", {DateUnit::seconds, true}},
                                {"tDm", {DateUnit::milliseconds, true}},   {"tDu", {DateUnit::microseconds, true}},
                                {"tDn", {DateUnit::nanoseconds, true}}};

/// Reads a column of dates or durations; false for another column.
bool read_dates(const Source& source, CsvColumnData& column) {
  const std::string_view format = source.schema.format;
  const bool is_days = format == "tdD";  // of 32 bits
  column.dates.reset();
  if (is_days) column.dates = DateKind{};
  for (const TimeFormat& time : times)
    if (format.starts_with(time.format)) column.dates = time.kind;
  if (!column.dates) return false;
  column.dtype = DType::int64;
  column.memory = memory_of(source.rows, sizeof(std::int64_t));
  const void* const buffer = source.buffer(1);
  for (std::int64_t row = 0; row < source.rows; ++row)
    column.memory[static_cast<std::size_t>(row)] =
        source.is_null(row) ? static_cast<std::uint64_t>(missing_date)
                            : bits_of(is_days ? DType::int32 : DType::int64, buffer, source.offset + row);
  return true;
}

CsvColumnData read_column(const Source& source) {
  CsvColumnData column;
  column.name = source.name;
  const std::string_view format = source.schema.format;
  const std::size_t at = format.size() == 1 ? formats.find(format[0]) : formats.npos;
  if (source.schema.dictionary != nullptr) {
    if (at == formats.npos || info(dtypes[at]).kind == DTypeKind::floating || source.array.dictionary == nullptr)
      source.fail("integers as positions in the dictionary", std::string(format));
    const Source texts{*source.schema.dictionary, *source.array.dictionary, source.name,
                       source.array.dictionary->offset, source.array.dictionary->length};
    if (!is_text(texts.schema.format)) source.fail("a dictionary of text", texts.schema.format);
    read_texts(source, texts, column, [&](std::int64_t row) {
      const auto index = static_cast<std::int64_t>(bits_of(dtypes[at], source.buffer(1), source.offset + row));
      if (index < 0) source.fail("positions from 0", std::to_string(index));
      return index;
    });
  } else if (is_text(format)) {
    read_texts(source, source, column, [](std::int64_t row) { return row; });
  } else if (format == "b") {
    read_numbers(source, DType::boolean, column);
  } else if (at != formats.npos) {
    read_numbers(source, dtypes[at], column);
  } else if (!read_dates(source, column)) {
    source.fail("numbers, booleans, text or dates", "Arrow's type \"" + std::string(format.substr(0, 20)) + '"');
  }
  return column;
}

std::string name_of(const Schema& schema, std::int64_t position) {
  return schema.name != nullptr && *schema.name != '\0' ? schema.name : "c" + std::to_string(position + 1);
}

[[noreturn]] void fail_struct(const std::string& expected, const std::string& got) {
  throw Error("[from_arrow] expected {}, got {}", expected, got);
}

/// Throws Error for numbers and addresses that make no sense. The memory at the addresses cannot be checked.
void check(const Schema& schema, const Array& array) {
  if (schema.format == nullptr) fail_struct("a schema with a format", "none");
  for (const auto& [what, number] :
       {std::pair("rows", array.length), std::pair("rows to skip", array.offset), std::pair("buffers", array.n_buffers),
        std::pair("children", array.n_children), std::pair("children of the schema", schema.n_children)})
    if (number < 0 || number > max_elements)
      fail_struct("a number of " + std::string(what) + " from 0 to 2^53", std::to_string(number));
  if (array.n_buffers > 0 && array.buffers == nullptr) fail_struct("buffers", "a null pointer");
  if ((array.n_children > 0 && array.children == nullptr) || (schema.n_children > 0 && schema.children == nullptr))
    fail_struct("children", "a null pointer");
  if (schema.dictionary != nullptr && array.dictionary != nullptr) check(*schema.dictionary, *array.dictionary);
}

}  // namespace

CsvTable read(const Schema& schema, const Array& array) {
  if (schema.release == nullptr || array.release == nullptr)
    throw Error("[from_arrow] expected a schema and an array, got one that was released");
  check(schema, array);
  CsvTable table;
  table.rows = array.length;
  if (std::string_view(schema.format) != "+s") {
    table.columns.push_back(read_column({schema, array, name_of(schema, 0), array.offset, array.length}));
    return table;
  }
  if (array.null_count > 0) throw Error("[from_arrow] expected no nulls among the rows of the struct, got some");
  if (schema.n_children != array.n_children)
    throw Error("[from_arrow] expected {} children, got {}", schema.n_children, array.n_children);
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (array.children[i] == nullptr || schema.children[i] == nullptr)
      fail_struct("child " + std::to_string(i + 1), "a null pointer");
    const Array& child = *array.children[i];
    check(*schema.children[i], child);
    if (child.length < array.offset + array.length)
      throw Error("[from_arrow] expected {} rows, got {}", array.length, child.length);
    table.columns.push_back(read_column(
        {*schema.children[i], child, name_of(*schema.children[i], i), child.offset + array.offset, array.length}));
  }
  return table;
}

}  // namespace gpulua::arrow
