#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>

namespace gpulua::cpu {

/// How deeply the functions of a source nest conditions and loops. LLVM's time grows with the square of that, and more.
class Nesting {
 public:
  static constexpr unsigned most = 1000;

  /// Looks at all that clang parses. Outlived by this object.
  std::unique_ptr<clang::ASTConsumer> consumer();
  bool too_deep() const { return depth_ > most; }

 private:
  class Consumer;
  unsigned depth_ = 0;
};

}  // namespace gpulua::cpu
