#pragma once

#include <string>

namespace gpulua {

/// A line of the host program's script. `chunk` stays valid while the Host (src/runtime/host.h) lives.
struct Origin {
  const char* chunk = nullptr;  // "script.lua"; null: not from a script
  int line = 0;
  bool in_library = false;  // a Lua function of the library, which this line called, made the call
};

/// What stands before a message about the line: "script.lua:12: ", or nothing where no script runs.
inline std::string place_text(const Origin& origin) {
  return origin.chunk ? std::string(origin.chunk) + ":" + std::to_string(origin.line) + ": " : "";
}

}  // namespace gpulua
