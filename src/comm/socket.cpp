#include "src/comm/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/error.h"

namespace gpulua {

namespace {

std::string reason() {
  return std::strerror(errno);
}

/// Waits until the socket can send or receive.
bool wait_for(int descriptor, short events, int milliseconds) {
  pollfd entry{descriptor, events, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Connects a socket that does not block. False, with errno, when it fails or takes too long: a host that is not there
/// answers nothing.
bool connects(int descriptor, const addrinfo& to, int milliseconds) {
  if (::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS && errno != EINTR) return false;
  if (!wait_for(descriptor, POLLOUT, milliseconds)) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

/// Small messages leave at once.
void set_nodelay(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Socket::send_all(const void* bytes, std::size_t count, int seconds) const {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(descriptor_, from, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      from += sent;
      count -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor_, POLLOUT, seconds * 1000)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Socket::receive_all(void* bytes, std::size_t count, int seconds) const {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t received = ::recv(descriptor_, to, count, MSG_DONTWAIT);
    if (received > 0) {
      to += received;
      count -= static_cast<std::size_t>(received);
    } else if (received == 0) {
      return false;
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor_, POLLIN, seconds * 1000)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::ptrdiff_t Socket::receive_some(void* bytes, std::size_t count) const {
  ssize_t received = 0;
  do received = ::recv(descriptor_, bytes, count, MSG_DONTWAIT);
  while (received < 0 && errno == EINTR);
  if (received > 0) return received;
  return received < 0 && errno == EAGAIN ? 0 : -1;
}

void Socket::set_nonblocking() const {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

Socket listen_at(int port, Reach reach) {
  const auto fail = [port] {
    throw Error(ErrorKind::unavailable, "[comm] cannot listen at port {}: {}", port, reason());
  };
  const bool is_open = reach == Reach::all_machines;
  Socket socket(is_open ? ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1);
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (socket) {
    const int off = 0;
    ::setsockopt(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto& address = reinterpret_cast<sockaddr_in6&>(storage);
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof(sockaddr_in6);
  } else {  // for this machine, or on a system without IPv6
    socket = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) fail();
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(is_open ? INADDR_ANY : INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof(sockaddr_in);
  }
  const int on = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&storage), size) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0)
    fail();
  return socket;
}

int port_of(const Socket& listener) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  ::getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&storage), &size);
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(storage).sin_port);
}

Socket accept_from(const Socket& listener) {
  if (!wait_for(listener.descriptor(), POLLIN, 0)) return {};
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket) set_nodelay(socket.descriptor());
  return socket;
}

std::string peer_address(const Socket& socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  char text[NI_MAXHOST] = "";
  if (::getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&storage), &size) == 0)
    ::getnameinfo(reinterpret_cast<sockaddr*>(&storage), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

Socket connect_to(const std::string& address, int port, int milliseconds, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    why = ::gai_strerror(error);
    return {};
  }
  Socket result;
  for (const addrinfo* entry = found; entry != nullptr && !result; entry = entry->ai_next) {
    Socket socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket && connects(socket.descriptor(), *entry, milliseconds))
      result = std::move(socket);
    else
      why = reason();
  }
  ::freeaddrinfo(found);
  if (!result) return {};
  ::fcntl(result.descriptor(), F_SETFL, ::fcntl(result.descriptor(), F_GETFL) & ~O_NONBLOCK);
  set_nodelay(result.descriptor());
  return result;
}

}  // namespace gpulua
