#pragma once

// The compilation that the current thread runs, and whether it has been abandoned.

namespace llvm {
class PassInstrumentationCallbacks;
}

namespace gpulua::cpu {

struct Compilation;

/// Sets the thread's compilation during its lifetime; it may be null.
class CurrentCompilation {
 public:
  explicit CurrentCompilation(Compilation* compilation);
  ~CurrentCompilation();
  CurrentCompilation(const CurrentCompilation&) = delete;
  CurrentCompilation& operator=(const CurrentCompilation&) = delete;

  static Compilation* get();
};

/// Makes LLVM skip its passes once the thread's compilation is abandoned: nobody uses the result.
void skip_passes_when_abandoned(llvm::PassInstrumentationCallbacks& callbacks);
/// Throws ErrorKind::interrupted if it is abandoned. Call it between stages only: LLVM's and clang's frames cannot be
/// unwound.
void check_abandoned();

}  // namespace gpulua::cpu
