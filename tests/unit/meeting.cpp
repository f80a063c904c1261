#include "src/comm/meeting.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/job_of.h"

using namespace gpulua;

namespace {

constexpr int milliseconds = 5000;

Socket connect_here(int port) {
  std::string why;
  Socket socket = connect_to("127.0.0.1", port, milliseconds, why);
  REQUIRE(socket);
  return socket;
}

/// What a rank with this token says first.
std::vector<char> first_word(const std::string& token) {
  const Socket listener = listen_at(0, Reach::this_machine);
  std::thread rank([&] {
    try {
      meet(job_of(1, 2, listener, token), [] {});
    } catch (const std::exception&) {  // this rank 0 answers nothing
    }
  });
  Socket caller;
  while (!caller) caller = accept_from(listener);
  // It comes as a whole.
  std::vector<char> word(1024);
  std::ptrdiff_t size = 0;
  while (size == 0) size = caller.receive_some(word.data(), word.size());
  REQUIRE(size > 0);
  word.resize(static_cast<std::size_t>(size));
  // Places of two ranks, for what it waits: it goes on, and ends.
  const std::array<char, 1024> places{};
  caller.send_all(places.data(), 2 * (64 + sizeof(std::int32_t)));
  rank.join();
  return word;
}

}  // namespace

TEST_CASE("ranks meet among strangers that say nothing, or not enough") {
  constexpr int size = 3, strangers = 200;
  const Socket listener = listen_at(0, Reach::this_machine);
  std::vector<Socket> idle;
  for (int i = 0; i < strangers; ++i) {
    idle.push_back(connect_here(port_of(listener)));
    if (i % 2 == 1) idle.back().send_all("g", 1);
  }
  std::vector<std::vector<PeerSockets>> peers(size);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] { peers[rank] = meet(job_of(rank, size, listener), [] {}); });
  for (std::thread& rank : ranks) rank.join();
  // The connections lead to each other.
  for (int rank = 0; rank < size; ++rank)
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      const int sent = 10 * rank + other;
      REQUIRE(peers[rank][other].data.send_all(&sent, sizeof sent));
      int received = 0;
      REQUIRE(peers[other][rank].data.receive_all(&received, sizeof received));
      CHECK(received == sent);
    }
}

TEST_CASE("a rank without the job's secret is turned away, and the others meet") {
  const std::vector<char> right = first_word("secret"), wrong = first_word("another");
  REQUIRE(right.size() == wrong.size());
  // Neither the secret nor its beginning is in the word.
  CHECK(std::string(right.begin(), right.end()).find("secret") == std::string::npos);
  const Socket listener = listen_at(0, Reach::this_machine);
  Socket stranger = connect_here(port_of(listener));
  REQUIRE(stranger.send_all(wrong.data(), wrong.size()));
  std::thread first([&] { meet(job_of(0, 2, listener), [] {}); });
  char byte = 0;
  CHECK_FALSE(stranger.receive_all(&byte, 1, 60));  // rank 0 hangs up
  meet(job_of(1, 2, listener), [] {});
  first.join();
}

TEST_CASE("a port for this machine is at its own address alone") {
  const auto address_of = [](const Socket& socket) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    REQUIRE(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&storage), &size) == 0);
    REQUIRE(storage.ss_family == AF_INET);
    return ntohl(reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr);
  };
  CHECK(address_of(listen_at(0, Reach::this_machine)) == INADDR_LOOPBACK);
  Job job;
  for (const char* local : {"localhost", "127.0.0.1"}) {
    job.address = local;
    CHECK(job.is_local());
  }
  for (const char* far : {"", "host", "10.0.0.1", "localhost.example"}) {
    job.address = far;
    CHECK_FALSE(job.is_local());
  }
}
