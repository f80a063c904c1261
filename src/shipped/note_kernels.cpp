// gpulua_note_kernels FOLDER script.lua [arguments]
//
// Runs the script as the command does, by a GPU's schedules on the CPU device, and writes the text of each of the
// library's kernels that it asks for to FOLDER/HASH.cu.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <lua.hpp>
#include <memory>
#include <string_view>

#include "src/base/cxx_tokens.h"
#include "src/cli/command_state.h"
#include "src/cli/report.h"
#include "src/device/shared/disk_cache.h"
#include "src/device/shared/standard_headers.h"
#include "src/eval/pipeline.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

/// True for a text that includes files of the machine's, as one with an operation of a script's may.
bool includes_files(std::string_view text) {
  CxxTokens tokens(text);
  for (CxxToken token = tokens.next(); token.kind != CxxToken::Kind::end; token = tokens.next()) {
    if (token.kind != CxxToken::Kind::directive) continue;
    const CxxDirective directive(token);
    if (directive.name.starts_with("include") &&
        std::ranges::find(public_headers(), directive.included(), &StandardHeader::name) == public_headers().end())
      return true;
  }
  return false;
}

void note(const std::filesystem::path& folder, const KernelSource& source) {
  if (source.own && !includes_files(source.text)) std::ofstream(folder / (hash_of(source.text) + ".cu")) << source.text;
}

struct Run {
  std::shared_ptr<Context> context;
  char** arguments;  // the script's name first, a null pointer after the last
  bool good = false;

  /// The body of a protected call: memory may run out in any of it.
  static int body(lua_State* L) {
    auto& run = *static_cast<Run*>(lua_touserdata(L, 1));
    open_command_state(L, run.context);
    lua_newtable(L);
    int count = 0;
    for (; run.arguments[count] != nullptr; ++count) {
      lua_pushstring(L, run.arguments[count]);
      lua_rawseti(L, -2, count);
    }
    lua_setglobal(L, "arg");
    if (luaL_loadfile(L, run.arguments[0]) != 0) return lua_error(L);
    for (int i = 1; i < count; ++i) lua_pushstring(L, run.arguments[i]);
    if (!call_with_traceback(L, count - 1, 0)) return lua_error(L);
    run.good = true;
    return 0;
  }
};

bool run(const std::filesystem::path& folder, char** arguments) {
  Config config = Config::from_environment();
  config.device = "cpu";
  config.gpu_schedules_on_cpu = true;
  const auto context = std::make_shared<Context>(std::move(config), make_evaluator);
  context->on_compile = [&](const KernelSource& source, const std::string&) {
    note(folder, source);
    return std::shared_ptr<void>();
  };
  Run run{context, arguments};
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), &lua_close);
  if (lua_cpcall(state.get(), Run::body, &run) != 0) print_error(state.get());
  if (run.good) finish_work(*context);
  return run.good;
}

}  // namespace
}  // namespace gpulua

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("gpulua_note_kernels FOLDER script.lua [arguments]\n", stderr);
    return 2;
  }
  return gpulua::run(argv[1], argv + 2) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gpulua_note_kernels: %s\n", error.what());
  return 1;
}
