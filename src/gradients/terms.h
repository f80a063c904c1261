#pragma once

// Formulas of derivatives as arrays.

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <span>
#include <unordered_map>
#include <variant>

#include "src/array/node.h"
#include "src/ops/op_table.h"

namespace gpulua {

/// A number, or an array.
using Term = std::variant<double, Array>;

/// Makes operations on terms. Equal ones are one array. Numbers among themselves, and 0, 1 and -1 beside arrays, are
/// computed here.
class Terms {
 public:
  explicit Terms(OpenDevice& device) : device_(device) {}
  Term apply(const OpInfo& op, std::span<const Term> operands);
  Term apply(std::string_view op, std::initializer_list<Term> operands);

 private:
  using Key = boost::container::small_vector<std::uint64_t, 8>;
  struct Hash {
    std::size_t operator()(const Key& key) const { return boost::hash_range(key.begin(), key.end()); }
  };

  OpenDevice& device_;                            // of numbers
  std::unordered_map<Key, Array, Hash> known_{};  // by operation and operands
};

/// True for the number.
inline bool is_number(const Term& term, double number) {
  const double* own = std::get_if<double>(&term);
  return own && *own == number;
}

}  // namespace gpulua
