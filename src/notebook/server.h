#pragma once

#include <pthread.h>

#include <memory>
#include <string>
#include <xeus/xeus_context.hpp>
#include <xeus/xserver_shell_main.hpp>

namespace gpulua {

/// xeus's server, which runs cells on the main thread and answers the control channel on another, with what xeus 2
/// lacks:
/// - an interrupt that Jupyter asks for by a message stops the cell: xeus only answers, and this server, which sees the
///   answer go by, sends SIGINT;
/// - cells that are dropped since one before them has failed are answered as the protocol has it.
class Server : public xeus::xserver_shell_main {
 public:
  using xserver_shell_main::xserver_shell_main;

 protected:
  void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
  void send_control_impl(xeus::xmessage message) override;
  void abort_queue_impl(const listener& answer, long polling_interval) override;

 private:
  void drop(const xeus::xmessage& request);

  pthread_t cells_ = pthread_self();
  std::string session_;
};

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text);

}  // namespace gpulua
