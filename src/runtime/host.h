#pragma once

namespace gpulua {

/// A place in the host program's script. `chunk` stays valid while the Host lives.
struct Origin {
  const char* chunk = nullptr;  // "script.lua"; null: not from a script
  int line = 0;
};

/// What the core asks of whoever holds its handles: the Lua bindings, or an embedding program.
class Host {
 public:
  virtual ~Host() = default;
  /// Drops the handles that nobody can reach any more.
  virtual void collect() = 0;
  /// Where the script that called us stands.
  virtual Origin origin() = 0;
};

}  // namespace gpulua
