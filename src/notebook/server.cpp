#include "src/notebook/server.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>
#include <xeus/xkernel.hpp>

#if XEUS_VERSION_MAJOR >= 3
#include <xeus-zmq/xserver_zmq_split.hpp>
#include <xeus-zmq/xzmq_context.hpp>
#else
#include <xeus/xserver_shell_main.hpp>
#include <zmq.hpp>
#endif

namespace gpulua {

namespace {

/// The type of the message with the header, which may be any JSON.
std::string type_of(const nl::json& header) {
  const auto type = header.is_object() ? header.find("msg_type") : header.end();
  return type != header.end() && type->is_string() ? type->get<std::string>() : std::string();
}

/// What the control channel's thread may do beside a cell. xeus would do the rest there, too: run cells, complete
/// names.
constexpr std::string_view types_of_control[] = {"kernel_info_request", "shutdown_request", "interrupt_request"};

/// There are no comms: nobody offers a target. xeus crashes at messages for one that was not opened.
constexpr std::string_view types_of_comms[] = {"comm_msg", "comm_close"};

bool is_served(const std::string& type, xeus::channel channel) {
  if (channel == xeus::channel::CONTROL) return std::ranges::find(types_of_control, type) != std::end(types_of_control);
  return std::ranges::find(types_of_comms, type) == std::end(types_of_comms);
}

/// A listener for messages of any kind. What it throws at one that makes no sense drops that message: in the loops of
/// xeus-zmq, unlike in those of xeus 2, it would end the thread that reads the channel.
template <class Listener>
auto guarded(Listener listener) {
  return [listener](xeus::xmessage message) {
    try {
      listener(std::move(message));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "gpulua-kernel: %s\n", error.what());
    }
  };
}

}  // namespace

Server::Server(std::unique_ptr<xeus::xserver> inner) : inner_(std::move(inner)) {
  inner_->register_shell_listener(guarded([this](auto message) { notify_shell_listener(std::move(message)); }));
  inner_->register_control_listener(guarded([this](auto message) { notify_control_listener(std::move(message)); }));
  inner_->register_stdin_listener(guarded([this](auto message) { notify_stdin_listener(std::move(message)); }));
  inner_->register_internal_listener([this](nl::json message) { return notify_internal_listener(std::move(message)); });
}

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
  inner_->publish(std::move(message), channel);
}

/// The protocol has a status in each reply, xeus 2 not in those to interrupts and shutdowns.
void Server::send_control_impl(xeus::xmessage message) {
  nl::json content = message.content();
  if (content.is_object() && !content.contains("status")) content["status"] = "ok";
  inner_->send_control(xeus::xmessage(message.identities(), message.header(), message.parent_header(),
                                      message.metadata(), std::move(content), message.buffers()));
}

/// Takes all that waits before it answers any: what a front end sends after an answer is not dropped.
void Server::abort_queue_impl(const listener& answer, long) {
  std::vector<xeus::xmessage> waiting;
  inner_->abort_queue([&](xeus::xmessage request) { waiting.push_back(std::move(request)); }, 0);
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

std::unique_ptr<xeus::xcontext> make_context() {
#if XEUS_VERSION_MAJOR >= 3
  return xeus::make_zmq_context();
#else
  return xeus::make_context<zmq::context_t>();
#endif
}

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context, const xeus::xconfiguration& config,
                                           nl::json::error_handler_t on_bad_text) {
  return std::make_unique<Server>(xeus::make_xserver_shell_main(context, config, on_bad_text));
}

}  // namespace gpulua
