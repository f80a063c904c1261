#include "src/codegen/kernel_spec.h"

#include <algorithm>
#include <cctype>

namespace gpulua {

namespace {

constexpr std::size_t named_operations = 4;

}  // namespace

std::string KernelSpec::name() const {
  std::vector<std::string_view> names;
  for (const ValueSpec& value : values) {
    if (value.kind == ValueSpec::Kind::operand) continue;
    const std::string_view name = value.op ? value.op->name : value.reducer ? value.reducer->name : "gather";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string result = "gpulua";
  for (std::size_t i = 0; i < std::min(names.size(), named_operations); ++i) result.append("_").append(names[i]);
  if (names.empty()) result += "_copy";
  if (names.size() > named_operations) result += "_etc";
  result += "_kernel";  // gpulua_sum is another thing
  // An operation of a script may be called anything.
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return result;
}

}  // namespace gpulua
