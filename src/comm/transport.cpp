#include "src/comm/transport.h"

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/comm/mpi.h"
#include "src/comm/sockets.h"

namespace gpulua {

namespace {

const char* at(const void* memory, std::size_t offset) {
  return static_cast<const char*>(memory) + offset;
}
char* at(void* memory, std::size_t offset) {
  return static_cast<char*>(memory) + offset;
}

class Subgroup final : public Transport {
 public:
  Subgroup(std::shared_ptr<Transport> parent, std::vector<int> members, int rank)
      : Transport(rank, static_cast<int>(members.size())), parent_(std::move(parent)), members_(std::move(members)) {}

  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    std::vector<Outgoing> sent(outgoing.begin(), outgoing.end());
    std::vector<Incoming> received(incoming.begin(), incoming.end());
    for (Outgoing& message : sent) message.to = members_[message.to];
    for (Incoming& message : received) message.from = members_[message.from];
    parent_->transfer(op, sent, received);
  }
  const char* name() const override { return parent_->name(); }
  void tag(std::uint32_t tag) override { parent_->tag(tag); }
  void fail(const std::string& message) noexcept override { parent_->fail(message); }
  void check(const char* op) override { parent_->check(op); }

 private:
  std::shared_ptr<Transport> parent_;
  std::vector<int> members_;  // ranks of the parent, by rank here
};

}  // namespace

/// Rank r reduces the elements from first[r] to first[r + 1]: it gets them from all others, and sends the others
/// theirs.
void Transport::reduce_range(const char* op, const void* data, std::span<const std::size_t> first, void* result,
                             DType dtype, Reduction reduction) {
  const std::size_t item = size_of(dtype), mine = first[rank_ + 1] - first[rank_];
  std::vector<char> received(static_cast<std::size_t>(size_ - 1) * mine * item);
  std::vector<const void*> parts(size_);
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) {
      parts[other] = at(data, first[rank_] * item);
      continue;
    }
    char* place = received.data() + incoming.size() * mine * item;
    parts[other] = place;
    outgoing.push_back({other, at(data, first[other] * item), (first[other + 1] - first[other]) * item});
    incoming.push_back({other, place, mine * item});
  }
  tag(1 + 16 * static_cast<std::uint32_t>(reduction) + static_cast<std::uint32_t>(dtype));
  transfer(op, outgoing, incoming);
  tag(0);
  reduce_parts(result, parts, mine, dtype, reduction);
}

void Transport::all_reduce(const char* op, void* data, std::size_t count, DType dtype, Reduction reduction) {
  if (size_ == 1) return;
  std::vector<std::size_t> first(size_ + 1);
  for (int r = 0; r <= size_; ++r) first[r] = count / size_ * r + std::min<std::size_t>(r, count % size_);
  const std::size_t item = size_of(dtype);
  reduce_range(op, data, first, at(data, first[rank_] * item), dtype, reduction);
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    outgoing.push_back({other, at(data, first[rank_] * item), (first[rank_ + 1] - first[rank_]) * item});
    incoming.push_back({other, at(data, first[other] * item), (first[other + 1] - first[other]) * item});
  }
  transfer(op, outgoing, incoming);
}

void Transport::reduce_scatter(const char* op, const void* data, void* part, std::size_t count, DType dtype,
                               Reduction reduction) {
  std::vector<std::size_t> first(size_ + 1);
  for (int r = 0; r <= size_; ++r) first[r] = count * r;
  reduce_range(op, data, first, part, dtype, reduction);
}

void Transport::broadcast(const char* op, void* data, std::size_t bytes, int root) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  if (rank_ == root) {
    for (int other = 0; other < size_; ++other)
      if (other != root) outgoing.push_back({other, data, bytes});
  } else {
    incoming.push_back({root, data, bytes});
  }
  transfer(op, outgoing, incoming);
}

void Transport::all_gather(const char* op, const void* part, void* all, std::size_t bytes) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size_; ++other) {
    outgoing.push_back({other, part, bytes});
    incoming.push_back({other, at(all, static_cast<std::size_t>(other) * bytes), bytes});
  }
  transfer(op, outgoing, incoming);
}

void Transport::barrier(const char* op) {
  std::vector<char> all(size_);
  const char mine = 0;
  all_gather(op, &mine, all.data(), 1);
}

std::vector<std::string> Transport::gather_texts(const char* op, const std::string& text) {
  std::uint64_t length = text.size();
  std::vector<std::uint64_t> lengths(size_);
  all_gather(op, &length, lengths.data(), sizeof length);
  std::vector<std::string> texts(size_);
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int other = 0; other < size_; ++other) {
    texts[other].resize(lengths[other]);
    outgoing.push_back({other, text.data(), text.size()});
    incoming.push_back({other, texts[other].data(), texts[other].size()});
  }
  transfer(op, outgoing, incoming);
  return texts;
}

std::shared_ptr<Transport> make_subgroup(std::shared_ptr<Transport> parent, std::vector<int> members) {
  const auto own = std::ranges::find(members, parent->rank());
  const int rank = static_cast<int>(own - members.begin());
  return std::make_shared<Subgroup>(std::move(parent), std::move(members), rank);
}

std::shared_ptr<Transport> connect(const Job& job, std::function<void()> while_waiting) {
  if (job.by == Job::By::mpi) return connect_mpi(job, std::move(while_waiting));
  return connect_sockets(job, std::move(while_waiting));
}

}  // namespace gpulua
