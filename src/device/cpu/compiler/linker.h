#pragma once

// The fourth stage of the compiler: an object file to a shared object, by lld in this process.

#include <string>

namespace gpulua::cpu {

/// Throws ErrorKind::compile with lld's text, which names the functions that are declared and defined nowhere.
std::string link_shared_object(const std::string& object);

}  // namespace gpulua::cpu
