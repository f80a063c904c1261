#pragma once

// Columns in the Arrow C data interface: two structs that programs hand to each other in one process.

#include <cstdint>

#include "src/files/csv.h"

namespace gpulua::arrow {

// The layouts are the interface's. `release` is called by the owner; null means released.
struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* private_data;
};

struct Array {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

/// The columns of a struct array, or the one column of another. A null is NaN, in float64 unless the column is
/// floating, and an empty text. Calls neither release. Throws Error for types other than numbers, booleans, text, dates
/// and durations, and for nulls beside integers beyond 2^53. Dates and durations may be missing.
CsvTable read(const Schema& schema, const Array& array);

/// Fills both structs with a struct array of the columns. Text is dictionary-encoded. The consumer calls release.
/// Throws Error for dtypes that Arrow does not have.
void write(std::span<const CsvOutput> columns, std::int64_t rows, Schema& schema, Array& array);

}  // namespace gpulua::arrow
