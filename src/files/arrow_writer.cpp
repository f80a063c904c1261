#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "src/base/error.h"
#include "src/files/arrow.h"

namespace gpulua::arrow {

namespace {

/// What a schema of ours holds.
struct SchemaParts {
  std::string format, name;
  std::vector<Schema> children;
  std::vector<Schema*> pointers;
  Schema dictionary{};
};

/// What an array of ours holds.
struct ArrayParts {
  std::vector<std::vector<char>> memory;
  std::vector<const void*> buffers;
  std::vector<Array> children;
  std::vector<Array*> pointers;
  Array dictionary{};
};

/// Releases what is below, which a consumer may have moved away, and then the struct itself.
template <class Struct, class Parts>
void release(Struct* released) {
  const std::unique_ptr<Parts> parts(static_cast<Parts*>(released->private_data));
  for (Struct& child : parts->children)
    if (child.release != nullptr) child.release(&child);
  if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
  released->release = nullptr;
}

SchemaParts& open(Schema& schema, std::string format, std::string name) {
  auto parts = std::make_unique<SchemaParts>();
  parts->format = std::move(format);
  parts->name = std::move(name);
  schema = {};
  schema.format = parts->format.c_str();
  schema.name = parts->name.c_str();
  schema.release = release<Schema, SchemaParts>;
  schema.private_data = parts.get();
  return *parts.release();
}

ArrayParts& open(Array& array, std::int64_t length, std::vector<std::vector<char>> memory) {
  auto parts = std::make_unique<ArrayParts>();
  parts->memory = std::move(memory);
  parts->buffers.push_back(nullptr);  // no validity: there are no nulls
  for (const std::vector<char>& buffer : parts->memory) parts->buffers.push_back(buffer.data());
  array = {};
  array.length = length;
  array.n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  array.buffers = parts->buffers.data();
  array.release = release<Array, ArrayParts>;
  array.private_data = parts.get();
  return *parts.release();
}

std::string format_of(const CsvOutput& column) {
  if (column.dates) {
    constexpr std::string_view letters = "Dsmun";
    const DateUnit unit = column.dates->unit;
    const char letter = letters[static_cast<std::size_t>(unit)];
    // Durations in days have no type of Arrow's: elements_of() makes seconds of them.
    if (column.dates->is_duration) return std::string("tD") + (unit == DateUnit::days ? 's' : letter);
    return unit == DateUnit::days ? "tdD" : std::string("ts") + letter + ':';
  }
  switch (column.dtype) {
    case DType::boolean:
      return "b";
    case DType::int8:
      return "c";
    case DType::int16:
      return "s";
    case DType::int32:
      return "i";
    case DType::int64:
      return "l";
    case DType::uint8:
      return "C";
    case DType::uint16:
      return "S";
    case DType::uint32:
      return "I";
    case DType::uint64:
      return "L";
    case DType::float16:
      return "e";
    case DType::float32:
      return "f";
    case DType::float64:
      return "g";
    default:
      break;
  }
  throw Error("[to_arrow] expected a dtype that Arrow has in column {}, got {}", column.name, name(column.dtype));
}

template <class T>
void append(std::vector<char>& memory, T value) {
  const char* const first = reinterpret_cast<const char*>(&value);
  memory.insert(memory.end(), first, first + sizeof value);
}

std::int64_t date_at(const CsvOutput& column, std::size_t row) {
  std::int64_t count = 0;
  std::memcpy(&count, column.elements.data() + row * sizeof count, sizeof count);
  return count;
}

/// Dates and durations in the type that format_of() says.
std::vector<char> dates_of(const CsvOutput& column) {
  if (column.dates->unit != DateUnit::days) return {column.elements.begin(), column.elements.end()};
  std::vector<char> memory;
  for (std::size_t row = 0; row < column.elements.size() / sizeof(std::int64_t); ++row) {
    const std::int64_t count = date_at(column, row);
    const auto seconds = in_finer(count, DateUnit::days, DateUnit::seconds);
    if (count != missing_date && (!seconds || count != static_cast<std::int32_t>(count)))
      throw Error("[to_arrow] expected days of 32 bits in column {}, got {}", column.name, count);
    if (column.dates->is_duration)
      append(memory, *seconds);
    else
      append(memory, static_cast<std::int32_t>(count));
  }
  return memory;
}

/// A bit for each row that has a date; none where all have.
std::vector<char> validity_of(const CsvOutput& column, std::int64_t& missing) {
  missing = 0;
  if (!column.dates) return {};
  const std::size_t rows = column.elements.size() / sizeof(std::int64_t);
  std::vector<char> bits((rows + 7) / 8);
  for (std::size_t row = 0; row < rows; ++row) {
    if (date_at(column, row) == missing_date)
      ++missing;
    else
      bits[row / 8] = static_cast<char>(bits[row / 8] | 1 << row % 8);
  }
  return missing > 0 ? bits : std::vector<char>();
}

std::vector<char> elements_of(const CsvOutput& column) {
  if (column.dates) return dates_of(column);
  if (column.dtype != DType::boolean) return {column.elements.begin(), column.elements.end()};
  std::vector<char> bits((column.elements.size() + 7) / 8);
  for (std::size_t i = 0; i < column.elements.size(); ++i)
    if (column.elements[i] != 0) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << i % 8);
  return bits;
}

/// The positions, which count from 1, counted from 0.
std::vector<char> positions_of(const CsvOutput& column) {
  std::vector<char> positions(column.elements.begin(), column.elements.end());
  for (std::size_t at = 0; at < positions.size(); at += sizeof(std::int32_t)) {
    std::int32_t position = 0;
    std::memcpy(&position, positions.data() + at, sizeof position);
    --position;
    if (position < 0 || static_cast<std::size_t>(position) >= column.texts->size())
      throw Error("[to_arrow] expected positions from 1 to {} in the texts of column {}, got {}", column.texts->size(),
                  column.name, position + 1);
    std::memcpy(positions.data() + at, &position, sizeof position);
  }
  return positions;
}

void write_texts(const std::vector<std::string>& texts, Array& array) {
  std::vector<char> offsets, bytes;
  std::int64_t end = 0;  // an array of format U has offsets of 64 bits
  append(offsets, end);
  for (const std::string& text : texts) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    end += static_cast<std::int64_t>(text.size());
    append(offsets, end);
  }
  open(array, static_cast<std::int64_t>(texts.size()), {std::move(offsets), std::move(bytes)});
}

}  // namespace

void write(std::span<const CsvOutput> columns, std::int64_t rows, Schema& schema, Array& array) {
  // What can fail comes first: the structs are whole, or as they were.
  std::vector<std::pair<std::string, std::vector<char>>> contents;
  for (const CsvOutput& column : columns)
    contents.emplace_back(format_of(column), column.texts ? positions_of(column) : elements_of(column));

  SchemaParts& schemas = open(schema, "+s", "");
  ArrayParts& arrays = open(array, rows, {});
  schemas.children.resize(columns.size());
  arrays.children.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    SchemaParts& below = open(schemas.children[i], contents[i].first, columns[i].name);
    constexpr std::int64_t nullable = 2;
    if (columns[i].dates) schemas.children[i].flags = nullable;
    ArrayParts& parts = open(arrays.children[i], rows, {});
    parts.memory.push_back(std::move(contents[i].second));
    parts.memory.push_back(validity_of(columns[i], arrays.children[i].null_count));
    if (!parts.memory[1].empty()) parts.buffers[0] = parts.memory[1].data();
    parts.buffers.push_back(parts.memory[0].data());
    arrays.children[i].buffers = parts.buffers.data();
    arrays.children[i].n_buffers = 2;
    if (columns[i].texts) {
      open(below.dictionary, "U", "");
      schemas.children[i].dictionary = &below.dictionary;
      write_texts(*columns[i].texts, parts.dictionary);
      arrays.children[i].dictionary = &parts.dictionary;
    }
    schemas.pointers.push_back(&schemas.children[i]);
    arrays.pointers.push_back(&arrays.children[i]);
  }
  schema.n_children = array.n_children = static_cast<std::int64_t>(columns.size());
  schema.children = schemas.pointers.data();
  array.children = arrays.pointers.data();
}

}  // namespace gpulua::arrow
