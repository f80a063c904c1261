#pragma once

// What the stages of a compilation can ask about it.

namespace llvm {
class PassInstrumentationCallbacks;
}

namespace gpulua::cpu {

struct Compilation;

/// While one lives, the thread's compilation is `compilation`, which may be null.
class CurrentCompilation {
 public:
  explicit CurrentCompilation(Compilation* compilation);
  ~CurrentCompilation();
  CurrentCompilation(const CurrentCompilation&) = delete;
  CurrentCompilation& operator=(const CurrentCompilation&) = delete;

  static Compilation* get();
};

/// LLVM leaves out its passes when nobody waits any more for what this thread compiles: what they make is of no use
/// then.
void skip_passes_when_abandoned(llvm::PassInstrumentationCallbacks& callbacks);
/// Throws ErrorKind::interrupted then. For the compiler's own code, between the stages: LLVM's and clang's frames
/// cannot be unwound.
void check_abandoned();

}  // namespace gpulua::cpu
