#include "src/notebook/server.h"

#include <signal.h>

#include <utility>
#include <zmq.hpp>

namespace gpulua {

void Server::publish_impl(xeus::xpub_message message, xeus::channel channel) {
  if (channel == xeus::channel::CONTROL && message.header().value("msg_type", "") == "interrupt") {
    pthread_kill(cells_, SIGINT);
    return;  // the protocol has no such message
  }
  xserver_shell_main::publish_impl(std::move(message), channel);
}

/// The protocol has a status in each reply, xeus 2 not in those to interrupts and shutdowns.
void Server::send_control_impl(xeus::xmessage message) {
  nl::json content = message.content();
  if (content.is_object() && !content.contains("status")) content["status"] = "ok";
  xserver_shell_main::send_control_impl(xeus::xmessage(message.identities(), message.header(), message.parent_header(),
                                                       message.metadata(), std::move(content), message.buffers()));
}

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text) {
  return std::make_unique<Server>(context.get_wrapped_context<zmq::context_t>(), config, on_bad_text);
}

}  // namespace gpulua
