#pragma once

#include <string>

namespace gpulua {

/// A line of the host program's script. `chunk` stays valid while the Host (src/runtime/host.h) lives.
struct Origin {
  const char* chunk = nullptr;  // "script.lua"; null: not from a script
  int line = 0;                 // 0: nothing tells which one of the chunk
  bool in_library = false;      // a Lua function of the library, which this line called, made the call
};

/// "script.lua:12", or "script.lua" for line 0: one of several lines there, nothing tells which.
inline std::string line_text(const char* chunk, int line) {
  return chunk + (line > 0 ? ":" + std::to_string(line) : "");
}

/// What stands before a message about the line: "script.lua:12: ", or nothing where no script runs.
inline std::string place_text(const Origin& origin) {
  return origin.chunk ? line_text(origin.chunk, origin.line) + ": " : "";
}

}  // namespace gpulua
