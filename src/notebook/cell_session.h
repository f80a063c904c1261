#pragma once

#include <lua.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/config.h"
#include "src/cli/typed_command.h"

namespace gpulua {

class Context;

/// A value in several forms: MIME types and data. Jupyter's front ends show the richest that they know.
using Bundle = std::vector<std::pair<std::string, std::string>>;

/// What cells ask of the notebook.
class Frontend {
 public:
  virtual ~Frontend() = default;
  virtual void display(const Bundle& value) = 0;
  /// Removes what the cell has shown; with `wait` when it shows something new.
  virtual void clear(bool wait) = 0;
  /// A line that the user types. Nothing: the front end has no way to ask.
  virtual std::optional<std::string> ask(const std::string& prompt) = 0;
};

/// The Lua state whose code comes in cells. All calls are those of the thread that made it.
class CellSession {
 public:
  struct Failure {
    std::string kind, message;
    std::string text;  // with the traceback
  };
  struct Result {
    std::optional<Failure> failure;
    std::optional<Bundle> value;
    bool leaves = false;
  };

  /// Blocks SIGINT but for while a cell runs, when it stops the cell. Throws std::runtime_error.
  CellSession(Config config, Frontend& frontend);
  ~CellSession();
  CellSession(const CellSession&) = delete;
  CellSession& operator=(const CellSession&) = delete;

  /// `chunk` is what errors call the cell.
  Result run(const std::string& code, const std::string& chunk);
  bool running() const { return running_; }

  TypedCommand::Status completeness(const std::string& code);
  std::vector<std::string> complete(const std::string& name, const std::string& before);
  /// What there is to say about a name; nothing for one that is unknown.
  std::optional<std::string> inspect(const std::string& name);

 private:
  template <class Body>
  void in_lua(Body body);
  void open(lua_State* L);
  std::string with_ended_local(std::string text) const;
  void run_command(lua_State* L, TypedCommand& command, Result& result);
  void fail(lua_State* L, const char* kind, Result& result);
  void wait_for_work(Result& result);

  static int publish(lua_State* L);
  static int clear(lua_State* L);
  static int ask(lua_State* L);

  Frontend& frontend_;
  std::shared_ptr<Context> context_;
  std::unique_ptr<lua_State, void (*)(lua_State*)> state_;
  bool running_ = false;
  std::set<std::string, std::less<>> ended_locals_;  // local variables of the cells before
};

}  // namespace gpulua
