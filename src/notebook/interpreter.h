#pragma once

#include <memory>
#include <string>
#include <xeus/xinterpreter.hpp>

#include "src/notebook/cell_session.h"
#include "src/notebook/output.h"

namespace gpulua {

/// What Jupyter's requests do: from xeus to the cells' Lua state and back.
class Interpreter : public xeus::xinterpreter, public Frontend {
 public:
  /// Called on the thread that xeus gives the requests of the shell channel to.
  explicit Interpreter(Config config);
  ~Interpreter() override;

  /// Ends the Lua state, unless a cell runs: at the process's exit, which xeus causes.
  void close();

 private:
  void configure_impl() override {}
#if XEUS_VERSION_MAJOR >= 5
  void execute_request_impl(send_reply_callback answer, int number, const std::string& code,
                            xeus::execute_request_config config, nl::json user_expressions) override;
#else
  nl::json execute_request_impl(int number, const std::string& code, bool silent, bool store_history,
                                nl::json user_expressions, bool allow_stdin) override;
#endif
  nl::json complete_request_impl(const std::string& code, int cursor) override;
  nl::json inspect_request_impl(const std::string& code, int cursor, int detail) override;
  nl::json is_complete_request_impl(const std::string& code) override;
  nl::json kernel_info_request_impl() override;
  void shutdown_request_impl() override;

  void display(const Bundle& value) override;
  void clear(bool wait) override;
  std::optional<std::string> ask(const std::string& prompt) override;

  nl::json execute(int number, const std::string& code, bool silent, bool allow_stdin,
                   const nl::json& user_expressions);
  nl::json evaluate(const nl::json& expressions);

  pthread_t thread_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<CellSession> session_;
  bool may_ask_ = false;
};

}  // namespace gpulua
