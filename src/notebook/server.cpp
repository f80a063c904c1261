#include "src/notebook/server.h"

#include <signal.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>
#include <xeus/xkernel.hpp>
#include <zmq.hpp>

namespace gpulua {

namespace {

/// The type of the message with the header, which may be any JSON.
std::string type_of(const nl::json& header) {
  const auto type = header.is_object() ? header.find("msg_type") : header.end();
  return type != header.end() && type->is_string() ? type->get<std::string>() : std::string();
}

/// What the control channel's thread may do beside a cell. xeus would do the rest there, too: run cells, complete names.
constexpr std::string_view types_of_control[] = {"kernel_info_request", "shutdown_request", "interrupt_request"};

/// There are no comms: nobody offers a target. xeus crashes at messages for one that was not opened.
constexpr std::string_view types_of_comms[] = {"comm_msg", "comm_close"};

bool is_served(const std::string& type, xeus::channel channel) {
  if (channel == xeus::channel::CONTROL) return std::ranges::find(types_of_control, type) != std::end(types_of_control);
  return std::ranges::find(types_of_comms, type) == std::end(types_of_comms);
}

}  // namespace

void Server::publish_impl(xeus::xpub_message message, xeus::channel channel) {
  // xeus says that it is busy before it looks at what the request is: a request that is not served goes no further.
  const std::string request = type_of(message.parent_header());
  const nl::json& content = message.content();
  if (type_of(message.header()) == "status" && content.value("execution_state", "") == "busy" && !request.empty() &&
      !is_served(request, channel))
    throw std::runtime_error("gpulua-kernel: a message of the type " + request + " is not served on this channel");
  if (channel == xeus::channel::CONTROL && type_of(message.header()) == "interrupt") {
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
    if (type_of(request.header()) == "execute_request")
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
