#pragma once

// The constants of an instrumented module. They name the source line and the variable of each access.

#include <llvm/IR/Instructions.h>

#include <map>

#include "src/device/cpu/abi/check_record.h"
#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

class SiteTable {
 public:
  explicit SiteTable(const SourceModule& source);

  /// A CheckedSite. `object` null: none.
  llvm::Constant* site(const llvm::Instruction& instruction, unsigned kind, unsigned align, llvm::Constant* object);
  /// A CheckedObject for an access of `bytes` through `pointer`, whose arithmetic starts at `base`.
  llvm::Constant* object(const llvm::Value& base, const llvm::Value& pointer, std::uint64_t bytes);
  /// A string's address.
  llvm::Constant* text(const std::string& value);
  llvm::Constant* constant(llvm::Constant* value);

  /// The size of `base` if the source gives it: a variable, or a parameter passed by value. Else 0.
  std::uint64_t known_bytes(const llvm::Value& base) const;
  bool is_shared(const llvm::Value& base) const;
  /// True for variables that no kernel writes: `__constant__` ones, literals and other constants.
  bool is_constant(const llvm::Value& base) const;

 private:
  struct Description {
    std::string name, type;
    Space space = Space::unknown;
    std::uint64_t element_bytes = 0, bytes = 0;
    std::vector<std::uint64_t> extents;
  };

  Description describe(const llvm::Value& base) const;
  Description describe_parameter(const llvm::Argument& argument) const;
  void describe_array(llvm::Type* type, Description& description) const;

  const SourceModule& source_;
  llvm::Module& module_;
  std::map<std::string, llvm::Constant*> texts_;
  std::map<std::string, llvm::Constant*> objects_;
};

}  // namespace gpulua::cpu
