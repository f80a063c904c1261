// The shortest ways between all pairs of nodes, and a node on each of them.

#include "bench/cpu_device/side.h"

namespace {

void shortest_ways(unsigned* length, unsigned* node, long n) {
  for (long k = 0; k < n; ++k) {
#pragma omp parallel for
    for (long r = 0; r < n; ++r)
      for (long c = 0; c < n; ++c) {
        const unsigned through = length[r * n + k] + length[k * n + c];
        if (through < length[r * n + c]) {
          length[r * n + c] = through;
          node[r * n + c] = static_cast<unsigned>(k);
        }
      }
  }
}

}  // namespace

int main(int count, char** arguments) {
  bench::Side side(count, arguments);
  const long n = side.size();
  auto start = side.uniform<unsigned>("start", n * n, 1, 1000);
  std::vector<unsigned> length, node;
  const auto work = [&] {
    length = start;
    node.assign(n * n, 0);
    shortest_ways(length.data(), node.data(), n);
  };
  work();
  side.save("length", length);
  side.save("node", node);
  bench::time(work);
}
