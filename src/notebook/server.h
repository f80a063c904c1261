#pragma once

#include <pthread.h>

#include <memory>
#include <string>
#include <xeus/xeus_context.hpp>
#include <xeus/xserver.hpp>

namespace gpulua {

/// What xeus's server and its sockets share.
std::unique_ptr<xeus::xcontext> make_context();

/// xeus's server, which runs cells on the main thread and answers the control channel on another, with what xeus lacks:
/// - an interrupt that Jupyter asks for by a message stops the cell: xeus only answers, and this server, which sees the
///   answer go by, sends SIGINT;
/// - cells that are dropped since one before them has failed are answered as the protocol has it.
class Server : public xeus::xserver {
 public:
  explicit Server(std::unique_ptr<xeus::xserver> inner);

 private:
  xeus::xcontrol_messenger& get_control_messenger_impl() override { return inner_->get_control_messenger(); }
  void send_shell_impl(xeus::xmessage message) override { inner_->send_shell(std::move(message)); }
  void send_control_impl(xeus::xmessage message) override;
  void send_stdin_impl(xeus::xmessage message) override { inner_->send_stdin(std::move(message)); }
  void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
  void start_impl(xeus::xpub_message message) override { inner_->start(std::move(message)); }
  void abort_queue_impl(const listener& answer, long polling_interval) override;
  void stop_impl() override { inner_->stop(); }
  void update_config_impl(xeus::xconfiguration& config) const override { inner_->update_config(config); }

  void drop(const xeus::xmessage& request);

  std::unique_ptr<xeus::xserver> inner_;
  pthread_t cells_ = pthread_self();
  std::string session_;
};

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text);

}  // namespace gpulua
