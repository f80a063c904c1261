#pragma once

// TCP sockets: the few calls that the rendezvous of ranks and their transport need.

#include <cstddef>
#include <string>
#include <utility>

namespace gpulua {

/// An open socket, closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// Sends or receives all bytes, for at most `seconds` where nothing moves. False when the other end is gone or late.
  bool send_all(const void* bytes, std::size_t count, int seconds = 5) const;
  bool receive_all(void* bytes, std::size_t count, int seconds = 5) const;
  /// Receives what has come, up to `count` bytes: their number, 0 when nothing has, -1 when the other end is gone.
  std::ptrdiff_t receive_some(void* bytes, std::size_t count) const;
  void set_nonblocking() const;

 private:
  int descriptor_ = -1;
};

/// Who reaches a port: the processes of this machine alone, or those of others too.
enum class Reach { this_machine, all_machines };

/// Listens at the port, or at one that the system chooses for 0. Throws Error.
Socket listen_at(int port, Reach reach);
int port_of(const Socket& listener);
/// The next connection; an empty socket when there is none.
Socket accept_from(const Socket& listener);
/// The address of the other end, as connect_to takes it.
std::string peer_address(const Socket& socket);
/// An empty socket when it fails, or takes longer than `milliseconds`; `why` has the reason.
Socket connect_to(const std::string& address, int port, int milliseconds, std::string& why);

}  // namespace gpulua
