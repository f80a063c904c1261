#include "src/notebook/interpreter.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <xeus/xhelper.hpp>
#include <xeus/xinput.hpp>

#include "src/notebook/text.h"

namespace gpulua {
namespace {

/// Names like a longer one are looked for in a time that grows with its square.
constexpr std::size_t longest_name = 200;

nl::json to_json(const Bundle& bundle) {
  nl::json data = nl::json::object();
  for (const auto& [type, value] : bundle) {
    if (type.ends_with("json"))
      data[type] = nl::json::parse(value);
    else if (type.starts_with("image/") && !type.ends_with("xml"))
      data[type] = base64(value);
    else
      data[type] = value;
  }
  return data;
}

/// The result's value as Jupyter has it. A value whose own JSON is none makes the result a failure.
nl::json take_value(CellSession::Result& result) {
  if (!result.value) return nl::json::object();
  try {
    return to_json(*result.value);
  } catch (const std::exception& error) {
    const std::string message =
        std::string("[display] expected JSON from __display, got a text that is not JSON: ") + error.what();
    result.failure = CellSession::Failure{"Error", message, message};
  }
  return nl::json::object();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// xeus's create_error_reply takes the message first, and its header says the opposite.
nl::json error_reply(const CellSession::Failure& failure) {
  return {
      {"status", "error"}, {"ename", failure.kind}, {"evalue", failure.message}, {"traceback", lines_of(failure.text)}};
}

}  // namespace

Interpreter::Interpreter(Config config) : thread_(pthread_self()) {
  xeus::register_interpreter(this);
  output_ =
      std::make_unique<Output>([this](const char* stream, const std::string& text) { publish_stream(stream, text); });
  session_ = std::make_unique<CellSession>(std::move(config), *this);
}

Interpreter::~Interpreter() = default;

void Interpreter::close() {
  if (session_->running()) return;
  session_.reset();
  output_.reset();
}

#if XEUS_VERSION_MAJOR >= 5
void Interpreter::execute_request_impl(send_reply_callback answer, int number, const std::string& code,
                                       xeus::execute_request_config config, nl::json user_expressions) {
  answer(execute(number, code, config.silent, config.allow_stdin, user_expressions));
}
#else
nl::json Interpreter::execute_request_impl(int number, const std::string& code, bool silent, bool,
                                           nl::json user_expressions, bool allow_stdin) {
  return execute(number, code, silent, allow_stdin, user_expressions);
}
#endif

nl::json Interpreter::execute(int number, const std::string& code, bool silent, bool allow_stdin,
                              const nl::json& user_expressions) {
  may_ask_ = allow_stdin;
  output_->begin_cell();
  CellSession::Result result = session_->run(code, "In[" + std::to_string(number) + "]");
  output_->end_cell();
  const nl::json data = take_value(result);
  if (result.failure) {
    if (!silent) publish_execution_error(result.failure->kind, result.failure->message, lines_of(result.failure->text));
    return error_reply(*result.failure);
  }
  if (result.value && !silent) publish_execution_result(number, data, nl::json::object());
  nl::json payload = nl::json::array();
  if (result.leaves) payload.push_back({{"source", "ask_exit"}, {"keepkernel", false}});
  return xeus::create_successful_reply(payload, evaluate(user_expressions));
}

nl::json Interpreter::evaluate(const nl::json& expressions) {
  nl::json results = nl::json::object();
  if (!expressions.is_object()) return results;
  for (const auto& [name, expression] : expressions.items()) {
    if (!expression.is_string()) continue;
    auto result = session_->run(expression.get<std::string>(), "expression " + name);
    const nl::json data = take_value(result);
    if (result.failure)
      results[name] = error_reply(*result.failure);
    else
      results[name] = {{"status", "ok"}, {"data", data}, {"metadata", nl::json::object()}};
  }
  return results;
}

nl::json Interpreter::complete_request_impl(const std::string& code, int cursor) {
  const std::size_t byte = byte_of(code, cursor);
  const std::string_view name = name_before(code, byte);
  std::vector<std::string> names;
  // Without a beginning there is too much to choose from.
  if (!name.empty() && name.size() <= longest_name)
    names = session_->complete(std::string(name), code.substr(0, byte - name.size()));
  for (std::string& match : names)
    if (match.ends_with("(")) match.pop_back();
  return xeus::create_complete_reply(names, place_of(code, byte) - static_cast<int>(name.size()), cursor);
}

nl::json Interpreter::inspect_request_impl(const std::string& code, int cursor, int) {
  const std::string_view name = name_around(code, byte_of(code, cursor));
  if (name.empty() || name.size() > longest_name) return xeus::create_inspect_reply();
  const auto text = session_->inspect(std::string(name));
  if (!text) return xeus::create_inspect_reply();
  return xeus::create_inspect_reply(true, {{"text/plain", *text}});
}

nl::json Interpreter::is_complete_request_impl(const std::string& code) {
  switch (session_->completeness(code)) {
    case TypedCommand::Status::complete:
      return xeus::create_is_complete_reply("complete");
    case TypedCommand::Status::incomplete:
      return xeus::create_is_complete_reply("incomplete", "  ");
    case TypedCommand::Status::wrong:
      break;
  }
  return xeus::create_is_complete_reply("invalid");
}

nl::json Interpreter::kernel_info_request_impl() {
  return xeus::create_info_reply("", "gpulua", GPULUA_VERSION, "lua", "5.1", "text/x-lua", ".lua", "lua", "lua", "",
                                 "gpulua " GPULUA_VERSION
                                 ": gpu is there; help() lists what it has, ? gpu.sum shows one of it");
}

/// On the thread of the control channel: a cell that runs must end before the kernel can.
void Interpreter::shutdown_request_impl() {
  pthread_kill(thread_, SIGINT);
}

void Interpreter::display(const Bundle& value) {
  const nl::json data = to_json(value);
  output_->behind_output([&] { display_data(data, nl::json::object(), nl::json::object()); });
}

void Interpreter::clear(bool wait) {
  output_->behind_output([&] { clear_output(wait); });
}

std::optional<std::string> Interpreter::ask(const std::string& prompt) {
  if (!may_ask_) return std::nullopt;
  output_->behind_output([] {});
  return xeus::blocking_input_request(prompt, false);
}

}  // namespace gpulua
