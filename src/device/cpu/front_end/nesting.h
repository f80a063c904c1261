#pragma once

#include <clang/AST/ASTConsumer.h>

#include <memory>

namespace gpulua::cpu {

/// The depth to which the functions of a source nest conditions and loops. LLVM's time grows at least with its square.
class Nesting {
 public:
  static constexpr unsigned most = 1000;

  /// Measures all that clang parses. This object must outlive it.
  std::unique_ptr<clang::ASTConsumer> consumer();
  bool too_deep() const { return depth_ > most; }

 private:
  class Consumer;
  unsigned depth_ = 0;
};

}  // namespace gpulua::cpu
