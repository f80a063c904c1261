#include "src/comm/meeting.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/base/sha256.h"

namespace gpulua {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{60}, least_patience{10};
// A rank sends its hello as soon as it has connected; a stranger may stay silent for ever.
constexpr std::chrono::seconds patience_with_one{5};
constexpr std::size_t most_strangers = 128;
constexpr int meeting_poll_ms = 100, connect_ms = 2000;

/// The first message of a connection.
struct Hello {
  enum Purpose : std::int32_t { meeting, data, control };

  char magic[8] = {'g', 'p', 'u', 'l', 'u', 'a', '0', '2'};
  char token[64] = {};  // the digest of the job's
  std::int32_t rank = 0, size = 0, port = 0;
  Purpose purpose = meeting;
};

/// Where a rank listens.
struct Place {
  char address[64] = {};
  std::int32_t port = 0;
};

/// A connection whose hello is not complete yet.
struct Caller {
  Socket socket;
  Clock::time_point end;
  Hello hello;
  std::size_t got = 0;
};

class Meeting {
 public:
  Meeting(const Job& job, const std::function<void()>& while_waiting)
      : job_(job),
        while_waiting_(while_waiting),
        digest_(sha256(job.token)),
        patience_(std::clamp(std::chrono::seconds(static_cast<long>(job.timeout)), least_patience, patience)),
        end_(Clock::now() + patience_),
        peers_(job.size) {}

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
      auto [socket, hello] = accept([&] { return std::vector<int>{missing}; });
      if (hello.rank <= job_.rank || hello.purpose == Hello::meeting) continue;
      PeerSockets& peer = peers_[hello.rank];
      (hello.purpose == Hello::data ? peer.data : peer.control) = std::move(socket);
    }
    return std::move(peers_);
  }

 private:
  /// The first of the ranks whose process is known to have ended; -1 for none.
  template <class Ranks>
  int ended_one(const Ranks& ranks) const {
    for (const int rank : ranks)
      if (char has_ended = 0; job_.ended >= 0 && ::pread(job_.ended, &has_ended, 1, rank) == 1 && has_ended != 0)
        return rank;
    return -1;
  }
  [[noreturn]] void refuse_ended(int rank) const {
    throw Error(
        ErrorKind::device,
        "[comm] expected the same calls on all ranks: rank {} has ended without gpu.comm, which connects all {} "
        "ranks",
        rank, job_.size);
  }
  /// For a wait in which no rank can have done its part and ended.
  template <class Ranks>
  void check_ended(const Ranks& ranks) const {
    if (const int rank = ended_one(ranks); rank >= 0) refuse_ended(rank);
  }

  /// Rank 0: waits for the hello of each rank, and sends all of them the list of addresses.
  void receive_all() {
    listener_ = job_.listener >= 0 ? Socket(job_.listener) : listen_at(job_.port, reach());
    places_.resize(job_.size);
    std::vector<Socket> sockets(job_.size);
    const auto missing = [&] {
      std::vector<int> ranks;
      for (int rank = 1; rank < job_.size; ++rank)
        if (!sockets[rank]) ranks.push_back(rank);
      return ranks;
    };
    for (int count = 1; count < job_.size;) {
      auto [socket, hello] = accept(missing);
      if (hello.purpose != Hello::meeting || hello.rank == 0) continue;
      if (sockets[hello.rank]) throw Error("[comm] expected each rank once, got rank {} twice", hello.rank);
      Place& place = places_[hello.rank];
      std::strncpy(place.address, peer_address(socket).c_str(), sizeof place.address - 1);
      place.port = hello.port;
      sockets[hello.rank] = std::move(socket);
      ++count;
    }
    for (int rank = 1; rank < job_.size; ++rank) sockets[rank].send_all(places_.data(), places_.size() * sizeof(Place));
  }

  /// Another rank: tells rank 0 where it listens, and gets the list of addresses.
  void introduce() {
    listener_ = listen_at(0, reach());
    Place first;
    const std::string address = job_.is_local() ? "127.0.0.1" : job_.address;
    std::strncpy(first.address, address.c_str(), sizeof first.address - 1);
    first.port = job_.port;
    places_.resize(job_.size);
    // A process that listens there for another job turns this rank away, and may be gone soon.
    while (!receive_places(connect(first, Hello::meeting, 0))) {
      check_ended(std::views::iota(0, job_.size));
      check_time([&] {
        return "place of rank 0 at " + address + ":" + std::to_string(first.port) +
               ", which turns this rank away: it has ended, is of another job, or has another GPULUA_TOKEN";
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(meeting_poll_ms));
    }
    places_[0] = first;
  }

  /// Rank 0 sends the list when the last rank has connected. False when rank 0 hangs up before.
  bool receive_places(const Socket& socket) {
    char* const bytes = reinterpret_cast<char*>(places_.data());
    const std::size_t wanted = places_.size() * sizeof(Place);
    for (std::size_t got = 0; got < wanted;) {
      const std::ptrdiff_t some = socket.receive_some(bytes + got, wanted - got);
      if (some < 0) return false;
      got += static_cast<std::size_t>(some);
      if (some > 0) continue;
      pollfd entry{socket.descriptor(), POLLIN, 0};
      ::poll(&entry, 1, meeting_poll_ms);
      while_waiting_();
      check_ended(std::views::iota(0, job_.size));
      check_time([] { return std::string("other ranks, which rank 0 names"); });
    }
    // The sender may be a stranger: the texts end within their arrays.
    for (Place& place : places_) place.address[sizeof place.address - 1] = 0;
    return true;
  }

  Reach reach() const { return job_.is_local() ? Reach::this_machine : Reach::all_machines; }

  template <class Missing>
  void check_time(const Missing& missing) const {
    if (Clock::now() > end_)
      throw Error(ErrorKind::device,
                  "[comm] timed out after {} s waiting for {} of {} ranks to connect; a script that ends without "
                  "gpu.comm does not connect, and GPULUA_COMM_TIMEOUT sets a shorter time",
                  patience_.count(), missing(), job_.size);
  }

  Hello hello(Hello::Purpose purpose) const {
    Hello hello;
    std::memcpy(hello.token, digest_.data(), sizeof hello.token);
    hello.rank = job_.rank;
    hello.size = job_.size;
    hello.port = job_.rank == 0 ? job_.port : port_of(listener_);
    hello.purpose = purpose;
    return hello;
  }

  Socket connect(const Place& place, Hello::Purpose purpose, int rank) const {
    std::string why;
    for (;;) {
      Socket socket = connect_to(place.address, place.port, connect_ms, why);
      const Hello mine = hello(purpose);
      if (socket && socket.send_all(&mine, sizeof mine)) return socket;
      while_waiting_();
      check_ended(std::views::single(rank));
      check_time([&] {
        return "answer of rank " + std::to_string(rank) + " at " + place.address + ":" + std::to_string(place.port) +
               " (" + why + ")";
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(meeting_poll_ms / 2));
    }
  }

  /// The next connection of a rank of this job. `missing` gives those that have not come yet. All connections are read
  /// at once: one that sends nothing, or a byte a second, delays nobody. Strangers are turned away.
  template <class Missing>
  std::pair<Socket, Hello> accept(const Missing& missing) {
    for (;;) {
      // Before the look at what has come: a rank may have connected last of all, and ended then.
      const int ended = ended_one(missing());
      std::vector<pollfd> entries{{listener_.descriptor(), POLLIN, 0}};
      for (const Caller& caller : callers_) entries.push_back({caller.socket.descriptor(), POLLIN, 0});
      const int ready = ::poll(entries.data(), entries.size(), meeting_poll_ms);
      if (ready > 0 && entries[0].revents != 0) {
        if (Socket socket = accept_from(listener_))
          callers_.push_back({std::move(socket), Clock::now() + patience_with_one, {}});
      }
      for (auto caller = callers_.begin(); caller != callers_.end();) {
        const Word word = listen_to(*caller);
        if (word == Word::unfinished) {
          ++caller;
          continue;
        }
        std::pair<Socket, Hello> rank{std::move(caller->socket), caller->hello};
        caller = callers_.erase(caller);
        if (word == Word::of_rank) return rank;
      }
      // The oldest stranger: a rank has sent its hello by now.
      if (callers_.size() > most_strangers) callers_.pop_front();
      while_waiting_();
      if (ended >= 0 && ready == 0 && callers_.empty()) refuse_ended(ended);
      check_time([&] {
        std::string names;
        for (const int rank : missing()) names += (names.empty() ? "rank " : ", ") + std::to_string(rank);
        return names;
      });
    }
  }

  enum class Word { unfinished, of_rank, of_stranger };

  /// Reads what has arrived of the caller's hello.
  Word listen_to(Caller& caller) const {
    char* const bytes = reinterpret_cast<char*>(&caller.hello);
    const std::ptrdiff_t some = caller.socket.receive_some(bytes + caller.got, sizeof(Hello) - caller.got);
    if (some < 0) return Word::of_stranger;
    caller.got += static_cast<std::size_t>(some);
    if (caller.got < sizeof(Hello)) return Clock::now() < caller.end ? Word::unfinished : Word::of_stranger;
    const Hello expected = hello(Hello::meeting);
    const Hello& theirs = caller.hello;
    // All digits, in the same time: how long it takes tells a stranger nothing.
    int differences = 0;
    for (std::size_t i = 0; i < sizeof theirs.token; ++i) differences |= theirs.token[i] ^ expected.token[i];
    const bool is_rank = std::memcmp(theirs.magic, expected.magic, sizeof theirs.magic) == 0 && differences == 0 &&
                         theirs.size == job_.size && theirs.rank >= 0 && theirs.rank < job_.size;
    return is_rank ? Word::of_rank : Word::of_stranger;
  }

  const Job& job_;
  const std::function<void()>& while_waiting_;
  const std::string digest_;  // of the job's token
  const std::chrono::seconds patience_;
  Clock::time_point end_;
  Socket listener_;
  std::deque<Caller> callers_;
  std::vector<Place> places_;  // by rank
  std::vector<PeerSockets> peers_;
};

}  // namespace

std::vector<PeerSockets> meet(const Job& job, const std::function<void()>& while_waiting) {
  if (job.size == 1) return std::vector<PeerSockets>(1);
  return Meeting(job, while_waiting).run();
}

}  // namespace gpulua
