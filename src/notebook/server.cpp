#include "src/notebook/server.h"

#include <signal.h>

#include <utility>
#include <vector>
#include <xeus/xkernel.hpp>
#include <zmq.hpp>

namespace gpulua {

void Server::publish_impl(xeus::xpub_message message, xeus::channel channel) {
  if (channel == xeus::channel::CONTROL && message.header().value("msg_type", "") == "interrupt") {
    pthread_kill(cells_, SIGINT);
    return;  // the protocol has no such message
  }
  if (channel == xeus::channel::SHELL && session_.empty()) session_ = message.header().value("session", "");
  xserver_shell_main::publish_impl(std::move(message), channel);
}

/// The protocol has a status in each reply, xeus 2 not in those to interrupts and shutdowns.
void Server::send_control_impl(xeus::xmessage message) {
  nl::json content = message.content();
  if (content.is_object() && !content.contains("status")) content["status"] = "ok";
  xserver_shell_main::send_control_impl(xeus::xmessage(message.identities(), message.header(), message.parent_header(),
                                                       message.metadata(), std::move(content), message.buffers()));
}

/// Takes all that waits before it answers any: what a front end sends after an answer is not dropped.
void Server::abort_queue_impl(const listener& answer, long) {
  std::vector<xeus::xmessage> waiting;
  xserver_shell_main::abort_queue_impl([&](xeus::xmessage request) { waiting.push_back(std::move(request)); }, 0);
  for (xeus::xmessage& request : waiting) {
    if (request.header().value("msg_type", "") == "execute_request")
      drop(request);
    else
      answer(std::move(request));
  }
}

void Server::drop(const xeus::xmessage& request) {
  const auto header = [&](const char* type) { return xeus::make_header(type, xeus::get_user_name(), session_); };
  const nl::json none = nl::json::object();
  send_shell(xeus::xmessage(request.identities(), header("execute_reply"), request.header(), none,
                            {{"status", "aborted"}}, {}));
  publish(xeus::xpub_message("status", header("status"), request.header(), none, {{"execution_state", "idle"}}, {}),
          xeus::channel::SHELL);
}

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text) {
  return std::make_unique<Server>(context.get_wrapped_context<zmq::context_t>(), config, on_bad_text);
}

}  // namespace gpulua
