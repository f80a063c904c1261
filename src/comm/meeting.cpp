#include "src/comm/meeting.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "src/base/error.h"

namespace gpulua {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{60};
constexpr int meeting_poll_ms = 100;

/// The first message of a connection.
struct Hello {
  enum Purpose : std::int32_t { meeting, data, control };

  char magic[8] = {'g', 'p', 'u', 'l', 'u', 'a', '0', '1'};
  char token[64] = {};
  std::int32_t rank = 0, size = 0, port = 0;
  Purpose purpose = meeting;
};

/// Where a rank listens.
struct Place {
  char address[64] = {};
  std::int32_t port = 0;
};

class Meeting {
 public:
  Meeting(const Job& job, const std::function<void()>& while_waiting)
      : job_(job), while_waiting_(while_waiting), end_(Clock::now() + patience), peers_(job.size) {}

  std::vector<PeerSockets> run() {
    if (job_.rank == 0)
      receive_all();
    else
      introduce();
    for (int other = 0; other < job_.rank; ++other) {
      peers_[other].data = connect(places_[other], Hello::data, other);
      peers_[other].control = connect(places_[other], Hello::control, other);
    }
    const auto complete = [this](int other) { return peers_[other].data && peers_[other].control; };
    for (int missing = job_.rank + 1; missing < job_.size;) {
      if (complete(missing)) {
        ++missing;
        continue;
      }
      auto [socket, hello] = accept([&] { return "rank " + std::to_string(missing); });
      if (hello.rank <= job_.rank || hello.purpose == Hello::meeting) continue;
      PeerSockets& peer = peers_[hello.rank];
      (hello.purpose == Hello::data ? peer.data : peer.control) = std::move(socket);
    }
    return std::move(peers_);
  }

 private:
  /// Rank 0: waits for a word of each, and gives all the list of places.
  void receive_all() {
    listener_ = job_.listener >= 0 ? Socket(job_.listener) : listen_at(job_.port);
    places_.resize(job_.size);
    std::vector<Socket> sockets(job_.size);
    const auto missing = [&] {
      std::string names;
      for (int rank = 1; rank < job_.size; ++rank)
        if (!sockets[rank]) names += (names.empty() ? "rank " : ", ") + std::to_string(rank);
      return names;
    };
    for (int count = 1; count < job_.size;) {
      auto [socket, hello] = accept(missing);
      if (hello.purpose != Hello::meeting || hello.rank == 0) continue;
      if (sockets[hello.rank])
        throw Error("[comm] expected each rank once, got rank " + std::to_string(hello.rank) + " twice");
      Place& place = places_[hello.rank];
      std::strncpy(place.address, peer_address(socket).c_str(), sizeof place.address - 1);
      place.port = hello.port;
      sockets[hello.rank] = std::move(socket);
      ++count;
    }
    for (int rank = 1; rank < job_.size; ++rank) sockets[rank].send_all(places_.data(), places_.size() * sizeof(Place));
  }

  /// Another rank: tells rank 0 where it listens, and gets the list of places.
  void introduce() {
    listener_ = listen_at(0);
    Place first;
    std::strncpy(first.address, job_.address.c_str(), sizeof first.address - 1);
    first.port = job_.port;
    const Socket socket = connect(first, Hello::meeting, 0);
    places_.resize(job_.size);
    char* bytes = reinterpret_cast<char*>(places_.data());
    std::size_t left = places_.size() * sizeof(Place);
    // The list comes when the last rank has come.
    char byte = 0;
    while (!socket.receive_all(&byte, 1, 1)) {
      while_waiting_();
      check_time([] { return std::string("other ranks, which rank 0 names"); });
    }
    bytes[0] = byte;
    if (!socket.receive_all(bytes + 1, left - 1))
      throw Error(ErrorKind::device, "[comm] rank 0 has ended while the ranks met");
    places_[0] = first;
  }

  template <class Missing>
  void check_time(const Missing& missing) const {
    if (Clock::now() > end_)
      throw Error(ErrorKind::device, "[comm] expected all " + std::to_string(job_.size) + " ranks to come within " +
                                         std::to_string(patience.count()) + " s, got no " + missing());
  }

  Hello hello(Hello::Purpose purpose) const {
    Hello hello;
    std::strncpy(hello.token, job_.token.c_str(), sizeof hello.token - 1);
    hello.rank = job_.rank;
    hello.size = job_.size;
    hello.port = job_.rank == 0 ? job_.port : port_of(listener_);
    hello.purpose = purpose;
    return hello;
  }

  Socket connect(const Place& place, Hello::Purpose purpose, int rank) const {
    std::string why;
    for (;;) {
      Socket socket = connect_to(place.address, place.port, why);
      const Hello mine = hello(purpose);
      if (socket && socket.send_all(&mine, sizeof mine)) return socket;
      while_waiting_();
      check_time([&] {
        return "answer of rank " + std::to_string(rank) + " at " + place.address + ":" + std::to_string(place.port) +
               " (" + why + ")";
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(meeting_poll_ms / 2));
    }
  }

  /// The next connection of a rank of this job. Strangers are turned away.
  template <class Missing>
  std::pair<Socket, Hello> accept(const Missing& missing) const {
    for (;;) {
      Socket socket = accept_from(listener_, meeting_poll_ms);
      Hello theirs;
      const Hello expected = hello(Hello::meeting);
      if (socket && socket.receive_all(&theirs, sizeof theirs) &&
          std::memcmp(theirs.magic, expected.magic, sizeof theirs.magic) == 0 &&
          std::memcmp(theirs.token, expected.token, sizeof theirs.token) == 0 && theirs.size == job_.size &&
          theirs.rank >= 0 && theirs.rank < job_.size)
        return {std::move(socket), theirs};
      while_waiting_();
      check_time(missing);
    }
  }

  const Job& job_;
  const std::function<void()>& while_waiting_;
  Clock::time_point end_;
  Socket listener_;
  std::vector<Place> places_;  // by rank
  std::vector<PeerSockets> peers_;
};

}  // namespace

std::vector<PeerSockets> meet(const Job& job, const std::function<void()>& while_waiting) {
  if (job.size == 1) return std::vector<PeerSockets>(1);
  return Meeting(job, while_waiting).run();
}

}  // namespace gpulua
