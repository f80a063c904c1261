#include "src/embed/lua_library.h"

#include <dlfcn.h>

#include <iterator>
#include <mutex>
#include <string>

#define LUA_FUNCTION(name, index) #name,
static const char* const function_names[] = {
#include "lua_functions.inc"
};
#undef LUA_FUNCTION

extern "C" {
// The forwarders below read it.
__attribute__((visibility("hidden"), used)) void* gpulua_lua_functions[std::size(function_names)];
}

// A forwarder leaves all arguments where they are, so it serves functions of any signature. It is hidden: calls from
// within the library bind to it, and nobody else sees it.
#if defined(__x86_64__)
#define FORWARD(index) "jmp *gpulua_lua_functions+8*" #index "(%rip)\n"
#elif defined(__aarch64__)
#define FORWARD(index) \
  "adrp x16, gpulua_lua_functions+8*" #index "; ldr x16, [x16, :lo12:gpulua_lua_functions+8*" #index "]; br x16\n"
#else
#error "expected x86-64 or AArch64: another processor needs its jump through a table here"
#endif
#define LUA_FUNCTION(name, index)                                                                              \
  ".globl " #name "; .hidden " #name "; .type " #name ", %function\n" #name ": " FORWARD(index) ".size " #name \
                                                                                                ", .-" #name "\n"
asm(".pushsection .text\n.balign 16\n"
#include "lua_functions.inc"
    ".popsection\n");
#undef LUA_FUNCTION

namespace gpulua {
namespace {

constexpr const char* own_library = "libluajit-5.1.so.2";
// Only LuaJIT has this function.
constexpr const char* mark = "luaJIT_setmode";

/// The shared object, or the program, that contains the address; null if its file is not open.
void* object_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  if (void* object = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)) return object;
  // The program's name is argv[0], which the loader does not know as a file.
  return dlopen(nullptr, RTLD_NOW);
}

class LuaLibrary {
 public:
  const char* connect_program(const void* caller) {
    const std::lock_guard lock(mutex_);
    const void* setmode = dlsym(RTLD_DEFAULT, mark);
    if (setmode == nullptr)
      if (void* object = object_of(caller)) setmode = dlsym(object, mark);
    if (setmode == nullptr)
      return "[gpu] expected a state of LuaJIT, and a program that exports LuaJIT's functions; there are none. A "
             "program with "
             "another Lua makes a state with gpulua_create; one that links LuaJIT statically is linked with -rdynamic";
    if (setmode == setmode_) return nullptr;
    if (setmode_ != nullptr)
      return "[gpu] expected a state of the LuaJIT that earlier states of the process belong to, got one of another "
             "LuaJIT";
    return fill(object_of(setmode));
  }

  const char* connect_own() {
    const std::lock_guard lock(mutex_);
    if (setmode_ != nullptr) return nullptr;
    if (const void* setmode = dlsym(RTLD_DEFAULT, mark)) return fill(object_of(setmode));
    // Its calls of its own functions must not meet those of another Lua in the program, which have the same names.
    void* library = dlopen(own_library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) {
      const char* text = dlerror();
      return because(std::string("[gpu] expected LuaJIT in the program or as ") + own_library +
                     " (apt-get install libluajit-5.1-2): " + (text != nullptr ? text : "it cannot be opened"));
    }
    return fill(library);
  }

  bool is_connected() {
    const std::lock_guard lock(mutex_);
    return setmode_ != nullptr;
  }

 private:
  /// Takes all functions from one object: a process may have several Luas.
  const char* fill(void* library) {
    for (std::size_t i = 0; i < std::size(function_names); ++i) {
      gpulua_lua_functions[i] = dlsym(library, function_names[i]);
      if (gpulua_lua_functions[i] == nullptr)
        return because(std::string("[gpu] expected LuaJIT 2.1, got one without the function ") + function_names[i]);
    }
    setmode_ = dlsym(library, mark);
    return nullptr;
  }

  static const char* because(std::string why) {
    static thread_local std::string text;
    text = std::move(why);
    return text.c_str();
  }

  std::mutex mutex_;
  const void* setmode_ = nullptr;  // of the LuaJIT in the table; null: the table is not filled
};

LuaLibrary& lua_library() {
  static LuaLibrary library;
  return library;
}

}  // namespace

const char* connect_program_lua(const void* caller) {
  return lua_library().connect_program(caller);
}
const char* connect_own_lua() {
  return lua_library().connect_own();
}
bool lua_is_connected() {
  return lua_library().is_connected();
}

}  // namespace gpulua
