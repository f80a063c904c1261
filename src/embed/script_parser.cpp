#include "src/embed/script_parser.h"

#include <pthread.h>
#include <signal.h>

#include "bindings/lua/text_pieces.h"
#include "src/runtime/stack_budget.h"

namespace gpulua::embed {
namespace {

/// Above what the parser needs, and what the host program's allocator may need above that.
constexpr std::size_t parser_stack = std::size_t{512} << 10;

struct Parsing {
  lua_State* L;
  std::string_view text;
  const char *chunk, *mode;
  const Interruption& interruption;
  int status = LUA_ERRMEM;

  void run() {
    const auto must_stop = [&] { return interruption.reason() != Interruption::Reason::none; };
    status = load_in_pieces(L, text, chunk, mode, must_stop);
    if (!must_stop() || status == LUA_ERRMEM) return;
    lua_pop(L, 1);  // a function or a message for a part of the text
    lua_pushstring(L, reason_text(interruption.reason()));
    status = LUA_ERRRUN;
  }
};

/// True when the parser has run. The program's signals are for its own threads.
bool run_on_own_stack(Parsing& parsing) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, parser_stack);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const auto run = [](void* data) -> void* { return static_cast<Parsing*>(data)->run(), nullptr; };
  const bool runs = pthread_create(&thread, &attributes, run, &parsing) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return runs && pthread_join(thread, nullptr) == 0;
}

}  // namespace

int parse(lua_State* L, std::string_view text, const char* chunk, const char* mode, const Interruption& interruption) {
  Parsing parsing{L, text, chunk, mode, interruption};
  if (StackBudget::left_of_thread() >= parser_stack)
    parsing.run();
  else if (!run_on_own_stack(parsing))
    lua_pushliteral(L, "not enough memory");
  return parsing.status;
}

}  // namespace gpulua::embed
