#include "src/comm/rank_devices.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "src/base/error.h"
#include "src/comm/socket.h"
#include "tests/catch.h"
#include "tests/unit/job_of.h"

using namespace gpulua;

namespace {

/// Calls `function` for each rank, on a thread of its own.
template <class Function>
void for_ranks(int size, const Function& function) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { function(rank); });
  for (std::thread& thread : threads) thread.join();
}

/// The transports of all ranks of a job, in one process.
std::vector<std::shared_ptr<Transport>> connect_ranks(int size) {
  const Socket listener = listen_at(0, Reach::this_machine);
  std::vector<std::shared_ptr<Transport>> ranks(size);
  for_ranks(size, [&](int rank) { ranks[rank] = connect(job_of(rank, size, listener), [] {}); });
  return ranks;
}

/// Calls `function`, which throws sooner or later, and returns what it throws.
template <class Function>
std::string thrown_by(const Function& function) {
  for (int i = 0; i < 1000; ++i) {
    try {
      function();
    } catch (const Error& error) {
      return error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "(nothing thrown)";
}

/// Work that waits for other ranks, as a library's does.
class WaitingCommunicator final : public Communicator {
 public:
  WaitingCommunicator(int rank, int size) : Communicator(rank, size) {}
  bool waits() const override { return false; }
  bool reduces(DType) const override { return true; }
  void all_reduce(const char*, const void*, void*, std::size_t, DType, Reduction, Stream&) override {}
  void reduce_scatter(const char*, const void*, void*, std::size_t, DType, Reduction, Stream&) override {}
  void broadcast(const char*, void*, std::size_t, int, Stream&) override {}
  void all_gather(const char*, const void*, void*, std::size_t, Stream&) override {}
  void transfer(const char*, std::span<const Outgoing>, std::span<const Incoming>, Stream&) override {}
  bool done() override { return is_done; }
  std::string failure() override { return error; }
  void abort() noexcept override { is_aborted = true; }

  bool is_done = false, is_aborted = false;
  std::string error;
};

class WaitingLibrary final : public CollectiveLibrary {
 public:
  const std::string& name() const override { return name_; }
  std::string make_id() override { return "id"; }
  std::shared_ptr<Communicator> join(const std::string&, int rank, int size, std::function<void()>) override {
    return std::make_shared<WaitingCommunicator>(rank, size);
  }

 private:
  std::string name_ = "waits";
};

/// Rank 0's work of a library.
struct Work {
  explicit Work(const std::shared_ptr<Transport>& job, double timeout = 60)
      : work(job, timeout, [] {}),
        communicator(std::static_pointer_cast<WaitingCommunicator>(work.join(library, "id", 0, job->size()))) {}

  WaitingLibrary library;
  LibraryWork work;
  std::shared_ptr<WaitingCommunicator> communicator;
};

/// What rank 0 learns from the ranks' words.
Agreement agreement_of(const std::vector<DeviceWord>& words, const std::string& id) {
  const auto ranks = connect_ranks(static_cast<int>(words.size()));
  std::vector<Agreement> agreements(words.size());
  for_ranks(static_cast<int>(words.size()),
            [&](int rank) { agreements[rank] = agree(*ranks[rank], words[rank], rank == 0 ? id : ""); });
  for (const Agreement& agreement : agreements) {
    CHECK(agreement.id == agreements[0].id);
    CHECK(agreement.reason == agreements[0].reason);
  }
  return agreements[0];
}

}  // namespace

TEST_CASE("ranks with a GPU each agree on a library") {
  const std::string id("1\n2\0\n", 5);
  const Agreement agreement = agreement_of({{"a", "NCCL 2.28.9", ""}, {"b", "NCCL 2.28.9", ""}}, id);
  CHECK(agreement.id == id);
  CHECK(agreement.reason.empty());
}

TEST_CASE("the reasons against a library name the ranks") {
  const std::string nccl = "NCCL 2.28.9";
  CHECK(agreement_of({{"a", nccl, ""}, {"b", nccl, ""}, {"a", nccl, ""}}, "id").reason ==
        "rank 0 and rank 2 share one GPU");
  CHECK(agreement_of({{"a", nccl, ""}, {"", "", "libnccl.so.2 was not found"}}, "id").reason ==
        "rank 1: libnccl.so.2 was not found");
  CHECK(agreement_of({{"a", nccl, ""}, {"b", "NCCL 2.27.1", ""}}, "id").reason ==
        "NCCL 2.28.9 on rank 0, NCCL 2.27.1 on rank 1");
}

TEST_CASE("a rank that waits for a library's work hears of a failure, and ends the work") {
  const auto ranks = connect_ranks(2);
  Work rank_0(ranks[0]);
  rank_0.work.begin("all_reduce", true);
  rank_0.work.watch();  // nothing has failed so far
  ranks[1]->fail("script.lua:7: no such file");
  CHECK(thrown_by([&] { rank_0.work.watch(); }) == "[all_reduce] rank 1 has failed: script.lua:7: no such file");
  CHECK(rank_0.communicator->is_aborted);
}

TEST_CASE("a rank whose work is done goes on when another one has failed") {
  const auto ranks = connect_ranks(2);
  Work rank_0(ranks[0]);
  rank_0.work.begin("all_reduce", true);
  rank_0.communicator->is_done = true;
  ranks[1]->fail("script.lua:7: no such file");
  for (int i = 0; i < 20; ++i) CHECK_NOTHROW(rank_0.work.watch());
  CHECK_FALSE(rank_0.communicator->is_aborted);
}

TEST_CASE("a library's failure ends the work") {
  const auto ranks = connect_ranks(2);
  Work rank_0(ranks[0]);
  rank_0.work.begin("all_gather", true);
  rank_0.communicator->error = "remote process exited";
  CHECK(thrown_by([&] { rank_0.work.watch(); }) == "[all_gather] expected ranks that work, got remote process exited");
  CHECK(rank_0.communicator->is_aborted);
}

TEST_CASE("a wait that takes too long names the ranks that have not come") {
  const auto ranks = connect_ranks(4);
  Work rank_0(ranks[0], 1);
  for (int call = 1; call <= 5; ++call) rank_0.work.begin("reduce_scatter", true);
  ranks[1]->report(4);
  ranks[2]->report(4);
  ranks[2]->report(5);
  CHECK(thrown_by([&] {
          rank_0.work.watch();
        }).find("[reduce_scatter] timed out after 1 s waiting for rank 1, 3; GPULUA_COMM_TIMEOUT") == 0);
  // Rank 1 has heard where rank 0 waited.
  CHECK_NOTHROW(ranks[1]->check("barrier"));
  CHECK(ranks[1]->missing(5) == "rank 3");
}

TEST_CASE("of a message between two ranks nobody knows who is late") {
  const auto ranks = connect_ranks(2);
  Work rank_0(ranks[0], 1);
  rank_0.work.begin("recv_", false);
  CHECK(thrown_by([&] { rank_0.work.watch(); }).find("s waiting for another rank; GPULUA") != std::string::npos);
}

TEST_CASE("words of ranks that wait do not disturb messages") {
  const auto ranks = connect_ranks(3);
  for_ranks(3, [&](int rank) {
    for (std::uint64_t call = 1; call <= 100; ++call) {
      ranks[rank]->report(call);
      ranks[rank]->barrier("barrier");
    }
  });
  CHECK_NOTHROW(ranks[0]->check("barrier"));
  CHECK(ranks[0]->missing(100).empty());
}
