#include "src/comm/sockets.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "src/base/error.h"
#include "src/comm/meeting.h"

namespace gpulua {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int poll_ms = 100;
constexpr const char* silent_text = "its process has ended";

/// "rank 1, 3".
std::string list(const std::vector<int>& ranks) {
  std::string names;
  for (const int rank : ranks) names += (names.empty() ? "rank " : ", ") + std::to_string(rank);
  return names;
}

/// The header of each message, by which a rank in another call is noticed.
struct Header {
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;
  char op[20] = {};
};

/// A message on the control connection. `end` and `failure` are a rank's last.
struct Word {
  enum Kind : std::int32_t { end, failure, waits };

  Kind kind = end;
  std::int32_t rank = 0;     // failure: which has failed
  std::uint64_t number = 0;  // failure: the bytes of the text that follows; waits: the number of the call
};

/// A message on its way.
struct Flow {
  int peer;
  bool sends;
  char* memory;
  std::size_t bytes;
  std::uint32_t tag;     // that the message has, or should have
  Header header = {};    // to send, or received
  std::size_t done = 0;  // bytes of header and message together

  bool finished() const { return done == sizeof header + bytes; }
};

class SocketTransport final : public Transport {
 public:
  SocketTransport(const Job& job, std::function<void()> while_waiting)
      : Transport(job.rank, job.size),
        peers_(meet(job, while_waiting)),
        while_waiting_(std::move(while_waiting)),
        timeout_(job.timeout),
        calls_(peers_.size()) {
    for (const PeerSockets& peer : peers_)
      if (peer.data) peer.data.set_nonblocking();
  }

  ~SocketTransport() override {
    if (has_failed_) return;
    const Word word{Word::end, rank(), 0};
    for (const PeerSockets& peer : peers_)
      if (peer.control) peer.control.send_all(&word, sizeof word, 0);
  }

  void fail(const std::string& message) noexcept override {
    if (std::exchange(has_failed_, true)) return;
    // A rank that fails because another one did passes on whose fault it was.
    const std::string& text = failed_rank_ >= 0 ? failure_ : message;
    const Word word{Word::failure, failed_rank_ >= 0 ? failed_rank_ : rank(), text.size()};
    for (const PeerSockets& peer : peers_)
      if (peer.control && peer.control.send_all(&word, sizeof word, 0))
        peer.control.send_all(text.data(), text.size(), 0);
  }

  const char* name() const override { return "sockets"; }
  void tag(std::uint32_t tag) override { tag_ = tag; }

  void check(const char* op) override {
    while (read_ready_words()) {
    }
    if (!silent_.empty()) note_failure(silent_.front(), silent_text);
    check_failure(op);
  }

  void report(std::uint64_t calls) noexcept override {
    if (calls_[rank()] == calls) return;
    calls_[rank()] = calls;
    const Word word{Word::waits, 0, calls};
    for (const PeerSockets& peer : peers_)
      if (peer.control) peer.control.send_all(&word, sizeof word, 0);
  }

  std::string missing(std::uint64_t calls) const override {
    std::vector<int> ranks;
    for (int other = 0; other < size(); ++other)
      if (other != rank() && calls_[other] < calls) ranks.push_back(other);
    return list(ranks);
  }

  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    copy_own(op, rank(), outgoing, incoming, std::memcpy);
    std::vector<Flow> flows;
    flows.reserve(outgoing.size() + incoming.size());
    for (const Outgoing& message : outgoing) {
      if (message.to == rank()) continue;
      // Only read: memory is char* for both directions.
      flows.push_back({message.to, true, static_cast<char*>(const_cast<void*>(message.memory)), message.bytes,
                       tag_ ^ message.kind});
      flows.back().header.bytes = message.bytes;
      flows.back().header.tag = flows.back().tag;
      std::strncpy(flows.back().header.op, op, sizeof(Header::op) - 1);
    }
    for (const Incoming& message : incoming)
      if (message.from != rank())
        flows.push_back({message.from, false, static_cast<char*>(message.memory), message.bytes, tag_ ^ message.kind});
    const auto start = Clock::now();
    while (!flows.empty()) {
      const bool moved = advance(op, flows);
      std::erase_if(flows, [](const Flow& flow) { return flow.finished(); });
      if (moved || flows.empty()) continue;
      // Only now: what a rank has sent before it failed completes the call.
      check_failure(op);
      if (wait(flows)) continue;
      while_waiting_();
      if (Clock::now() - start > std::chrono::duration<double>(timeout_)) throw_late(op, flows);
    }
  }

 private:
  /// Calls `function` with the first message for each peer and direction: messages keep their order.
  template <class Function>
  static void for_first(std::vector<Flow>& flows, const Function& function) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const auto same = [&](const Flow& other) {
        return other.peer == flows[i].peer && other.sends == flows[i].sends && !other.finished();
      };
      if (!flows[i].finished() && std::none_of(flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(i), same))
        function(flows[i]);
    }
  }

  /// Moves what can be moved now. Returns whether anything was.
  bool advance(const char* op, std::vector<Flow>& flows) {
    bool moved = false;
    for_first(flows, [&](Flow& flow) { moved = (flow.sends ? push(op, flow) : pull(op, flow)) || moved; });
    return moved;
  }

  bool push(const char* op, Flow& flow) {
    const std::size_t before = flow.done;
    while (!flow.finished()) {
      const bool in_header = flow.done < sizeof(Header);
      const char* from = in_header ? reinterpret_cast<const char*>(&flow.header) + flow.done
                                   : flow.memory + (flow.done - sizeof(Header));
      const std::size_t left = (in_header ? 0 : flow.bytes) + sizeof(Header) - flow.done;
      const int more = in_header && flow.bytes > 0 ? MSG_MORE : 0;
      const ssize_t sent = ::send(peers_[flow.peer].data.descriptor(), from, left, MSG_NOSIGNAL | more);
      if (!account(op, flow, sent)) break;
    }
    return flow.done > before;
  }

  bool pull(const char* op, Flow& flow) {
    const std::size_t before = flow.done;
    while (!flow.finished()) {
      const bool in_header = flow.done < sizeof(Header);
      char* to =
          in_header ? reinterpret_cast<char*>(&flow.header) + flow.done : flow.memory + (flow.done - sizeof(Header));
      const std::size_t left = (in_header ? 0 : flow.bytes) + sizeof(Header) - flow.done;
      const ssize_t received = ::recv(peers_[flow.peer].data.descriptor(), to, left, 0);
      if (received == 0) lose(op, flow.peer);
      if (!account(op, flow, received)) break;
      if (in_header && flow.done == sizeof(Header)) check_header(op, flow);
    }
    return flow.done > before;
  }

  /// Adds the result of send or recv. False when nothing can move now.
  bool account(const char* op, Flow& flow, ssize_t result) {
    if (result > 0) {
      flow.done += static_cast<std::size_t>(result);
      return true;
    }
    if (errno == EINTR) return true;
    if (errno != EAGAIN) lose(op, flow.peer);
    return false;
  }

  void check_header(const char* op, const Flow& flow) const {
    const bool same_op = std::strncmp(flow.header.op, op, sizeof(Header::op) - 1) == 0;
    // A send matches a receive, though their names differ.
    const bool is_pair = std::strcmp(flow.header.op, "send") == 0 && std::strcmp(op, "recv_") == 0;
    if ((same_op || is_pair) && flow.header.bytes == flow.bytes && flow.header.tag == flow.tag) return;
    const std::string with_other = flow.header.tag == flow.tag ? "" : " with another dtype or operation";
    throw Error(
        "[{}] expected the same call on all ranks: rank {} has sent {} bytes in {}{}, rank {} awaits {} in {}; "
        "gpu.debug(true) names the lines",
        op, flow.peer, flow.header.bytes, flow.header.op, with_other, rank(), flow.bytes, op);
  }

  /// Waits for something to move, or for a control message. False when it took too long.
  bool wait(std::vector<Flow>& flows) {
    std::vector<pollfd> entries;
    for_first(flows, [&](const Flow& flow) {
      entries.push_back({peers_[flow.peer].data.descriptor(), static_cast<short>(flow.sends ? POLLOUT : POLLIN), 0});
    });
    const std::size_t controls = entries.size();
    const std::vector<int> ranks = add_controls(entries);
    const int ready = ::poll(entries.data(), entries.size(), poll_ms);
    if (ready <= 0) return false;
    read_words(std::span(entries).subspan(controls), ranks);
    return true;
  }

  /// Adds the control connections; returns their ranks.
  std::vector<int> add_controls(std::vector<pollfd>& entries) const {
    std::vector<int> ranks;
    for (int other = 0; other < size(); ++other) {
      if (!peers_[other].control) continue;
      entries.push_back({peers_[other].control.descriptor(), POLLIN, 0});
      ranks.push_back(other);
    }
    return ranks;
  }

  /// Reads a control message from each rank that has sent one. False when no rank has.
  bool read_ready_words() {
    std::vector<pollfd> controls;
    const std::vector<int> ranks = add_controls(controls);
    if (::poll(controls.data(), controls.size(), 0) <= 0) return false;
    read_words(controls, ranks);
    return true;
  }

  void read_words(std::span<const pollfd> controls, const std::vector<int>& ranks) {
    for (std::size_t i = 0; i < controls.size(); ++i)
      if (controls[i].revents != 0) read_word(ranks[i]);
  }

  /// Reads a control message: the rank waits, its script has ended, or it, or another rank, has failed.
  void read_word(int other) {
    Socket control = std::move(peers_[other].control);
    Word word;
    if (control.receive_all(&word, sizeof word, 1)) {
      if (word.kind == Word::end) return;
      if (word.kind == Word::waits) {
        calls_[other] = word.number;
        peers_[other].control = std::move(control);
        return;
      }
      std::string text(std::min<std::uint64_t>(word.number, 1 << 16), '\0');
      if (control.receive_all(text.data(), text.size(), 1)) return note_failure(word.rank, std::move(text));
    }
    // A rank that needs nothing of the other one goes on.
    silent_.push_back(other);
  }

  void note_failure(int failed, std::string text) {
    if (failed_rank_ >= 0) return;
    failed_rank_ = failed;
    failure_ = std::move(text);
  }

  void check_failure(const char* op) const {
    if (failed_rank_ >= 0) throw Error(ErrorKind::device, "[{}] rank {} has failed: {}", op, failed_rank_, failure_);
  }

  /// The data connection with a rank is gone.
  [[noreturn]] void lose(const char* op, int other) {
    while (peers_[other].control) read_word(other);
    if (std::ranges::find(silent_, other) != silent_.end()) note_failure(other, silent_text);
    check_failure(op);
    throw Error(ErrorKind::device,
                "[{}] expected the same calls on all ranks: the script of rank {} has ended without this one", op,
                other);
  }

  [[noreturn]] void throw_late(const char* op, const std::vector<Flow>& flows) const {
    std::vector<int> late;
    for (const Flow& flow : flows) late.push_back(flow.peer);
    const bool only_sends = std::ranges::all_of(flows, [](const Flow& flow) { return flow.sends; });
    std::ranges::sort(late);
    late.erase(std::ranges::unique(late).begin(), late.end());
    throw Error(ErrorKind::device, "[{}] timed out after {} s waiting for {}{}; GPULUA_COMM_TIMEOUT sets the time", op,
                static_cast<long>(timeout_), list(late),
                only_sends && std::strcmp(op, "send") == 0
                    ? " to receive this; two ranks that both send first exchange by "
                      "gpu.comm.exchange or in gpu.comm.group"
                    : "");
  }

  std::vector<PeerSockets> peers_;  // a control connection is closed after the last message of its rank
  std::function<void()> while_waiting_;
  double timeout_;
  std::uint32_t tag_ = 0;
  bool has_failed_ = false;  // this rank
  int failed_rank_ = -1;     // another one
  std::string failure_;
  std::vector<int> silent_;           // ranks whose processes ended without a message
  std::vector<std::uint64_t> calls_;  // by rank: the call in which it waited last
};

}  // namespace

std::shared_ptr<Transport> connect_sockets(const Job& job, std::function<void()> while_waiting) {
  return std::make_shared<SocketTransport>(job, std::move(while_waiting));
}

}  // namespace gpulua
