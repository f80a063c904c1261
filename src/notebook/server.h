#pragma once

#include <pthread.h>

#include <memory>
#include <xeus/xeus_context.hpp>
#include <xeus/xserver_shell_main.hpp>

namespace gpulua {

/// xeus's server, which runs cells on the main thread and answers the control channel on another. xeus 2 has no word
/// for the interpreter when Jupyter asks for an interrupt by a message; this server sees the message go by, and sends
/// SIGINT.
class Server : public xeus::xserver_shell_main {
 public:
  using xserver_shell_main::xserver_shell_main;

 protected:
  void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
  void send_control_impl(xeus::xmessage message) override;

 private:
  pthread_t cells_ = pthread_self();
};

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text);

}  // namespace gpulua
