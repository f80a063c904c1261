#pragma once

// The fourth stage of the compiler: lld, in this process, links an object file to a shared object.

#include <string>

namespace gpulua::cpu {

/// Throws ErrorKind::compile with lld's text, which names the undefined functions.
std::string link_shared_object(const std::string& object);

/// True for a function of the C library's mathematics.
bool is_math_function(const std::string& symbol);

}  // namespace gpulua::cpu
