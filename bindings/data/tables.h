#pragma once

// The columns of tables between Lua and the host: lists of {name, array, what the column has besides}: nil, a list of
// texts, or {unit =, duration =} of dates. A column of a file that its fields made text has {text =, line =, is_quoted
// =} of the first such field as a fourth item.

#include <memory>
#include <vector>

#include "bindings/lua/lua.h"
#include "src/files/csv.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// Pushes the columns, with arrays on the device.
void push_columns(lua_State* L, CsvTable table, OpenDevice& device);

struct HostColumns {
  std::vector<CsvOutput> columns;
  std::vector<std::unique_ptr<char[]>> memory;  // of their elements
};

/// Copies the columns of the list at `index` to the host. Waits.
HostColumns check_columns(lua_State* L, int index, const char* op);

}  // namespace gpulua
