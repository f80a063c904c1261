#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// What has been typed of a command, at the prompt or in a cell of a notebook. Its lines have the numbers that they
/// have in the session, so that an error names one.
class TypedCommand {
 public:
  enum class Status { complete, incomplete, wrong };

  /// `chunk` is what errors call the text, as Lua names chunks: "=stdin".
  TypedCommand(std::string chunk, int first_line) : chunk_(std::move(chunk)), first_line_(first_line) {}

  bool empty() const { return lines_ == 0; }
  void add_line(std::string_view line);
  /// The line that is typed next.
  int next_line() const { return first_line_ + lines_; }
  std::string_view text() const { return text_; }

  /// Pushes the function, or unless the command is incomplete, the message. The stack must be empty.
  Status compile(lua_State* L);

  /// Pushes the message about a command that stays incomplete.
  void push_end_error(lua_State* L) const;

  /// True for a function whose first result is not the command's.
  bool is_expression() const { return is_expression_; }

  /// False after a ";" at the end.
  bool wants_result() const { return expression().size() == trimmed().size(); }

  /// True for `quit` and `exit`, unless the session has a variable of that name.
  bool leaves(lua_State* L) const;

  /// What to know of a command that does nothing, a local variable by itself; null when there is nothing to say.
  const char* hint() const;

  /// The local variables of the command itself, which begin a line with "local": they end with it.
  std::vector<std::string> locals() const;

  /// What to know of the nil that a command has left: where a function gave it to a variable with a message, or that
  /// its last expression is a name which no variable has. A line; empty when there is nothing to say.
  std::string about_nil(lua_State* L) const;

  /// What to know of a last expression that compares an array with a number, `x == 1`. A line, or empty.
  std::string about_comparison(lua_State* L) const;

 private:
  std::string_view trimmed() const;
  std::string_view expression() const;
  std::string_view asked() const;
  std::size_t magic_line(lua_State* L) const;
  std::string_view last_expression() const;
  std::string_view last_name() const;
  bool assigns(const std::string& position, std::string_view name) const;
  bool load_with_last_expression(lua_State* L) const;
  Status load(lua_State* L, const std::string& code) const;

  std::string chunk_;
  int first_line_;
  bool is_expression_ = false;
  int lines_ = 0;
  std::string text_;
};

}  // namespace gpulua
