#pragma once

// What the C++ side of each workload shares: `program folder size variant`. It goes first: it makes the inputs and
// leaves them in the folder together with its results, by which the other sides (side.lua, side.py) check theirs before
// they time.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class Side {
 public:
  Side(int count, char** arguments) {
    if (count != 4) {
      std::fprintf(stderr, "usage: %s folder size variant\n", arguments[0]);
      std::exit(2);
    }
    folder_ = arguments[1];
    size_ = std::atol(arguments[2]);
    variant_ = arguments[3];
  }

  long size() const { return size_; }
  const std::string& variant() const { return variant_; }

  /// `count` numbers of [low, high), saved under `name` for the other sides. Every run gives the same ones.
  template <class T>
  std::vector<T> uniform(const char* name, long count, double low, double high) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(low + (high - low) * (random_() * 0x1p-32));
    save(name, values);
    return values;
  }

  template <class T>
  void save(const char* name, const std::vector<T>& values) const {
    std::ofstream file(folder_ + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    file.close();
    if (!file) {
      std::fprintf(stderr, "%s/%s cannot be written\n", folder_.c_str(), name);
      std::exit(1);
    }
  }

 private:
  std::string folder_, variant_;
  long size_ = 0;
  std::mt19937 random_;
};

/// Prints the median time of `work` in milliseconds: at least 5 repeats and half a second. The caller has run it once
/// already.
template <class Work>
void time(Work&& work) {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || Clock::now() - begin < std::chrono::milliseconds(500)) {
    const auto start = Clock::now();
    work();
    times.push_back(Milliseconds(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%.4f\n", times[times.size() / 2]);
}

}  // namespace bench
