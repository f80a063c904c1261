#pragma once

// The ranks that gpu.comm works with: what moves host memory between them, and what moves the memory of their devices.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/comm/transport.h"
#include "src/device/device.h"

namespace gpulua {

/// What a rank tells the others of its device.
struct DeviceWord {
  std::string hardware_id;  // Device::hardware_id
  std::string library;      // CollectiveLibrary::name; empty: `why` says why there is none
  std::string why;
};

struct Agreement {
  std::string reason;  // why no library moves elements between the ranks' devices; empty when one does
  std::string id;      // of their communicator: rank 0's
};
/// Compares the devices of all ranks, which call it. `id`: of rank 0, if it has a library.
Agreement agree(Transport& ranks, const DeviceWord& own, const std::string& id);

/// The communicators of a job that a vendor's library has made, and the end of their work when a rank fails: by itself
/// that work would wait for ever.
class LibraryWork {
 public:
  /// `check_interrupt` throws when the script is to end.
  LibraryWork(std::shared_ptr<Transport> job, double timeout, std::function<void()> check_interrupt);

  /// This rank's part of a communicator.
  std::shared_ptr<Communicator> join(CollectiveLibrary& library, const std::string& id, int rank, int size);
  /// Notes the call that comes next; `of_all`: all ranks of the job make it.
  void begin(const char* op, bool of_all);
  /// For waits for the device: throws Error when a rank has failed, or is late, and this one waits for it.
  void watch();
  /// Ends all work.
  void abort() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  bool done();
  /// Throws as watch() does, while work waits for other ranks.
  void look();
  void check_time();

  std::shared_ptr<Transport> job_;
  std::chrono::duration<double> timeout_;
  std::function<void()> check_interrupt_;
  std::vector<std::weak_ptr<Communicator>> communicators_;
  std::string op_ = "comm";
  bool of_all_ = false;
  std::uint64_t calls_ = 0;        // begun
  std::uint64_t collectives_ = 0;  // those of all ranks
  std::uint64_t awaited_ = 0;      // `calls_` when the wait began
  Clock::time_point since_, last_look_;
};

/// Some ranks of a job, this process among them.
class Ranks {
 public:
  explicit Ranks(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  /// Moves elements between the ranks' devices by their library, if there is one. All of these ranks call it.
  void connect_devices(Device& device, std::shared_ptr<LibraryWork> work);

  const std::shared_ptr<Transport>& transport() const { return transport_; }
  /// For arrays on that device.
  Communicator& communicator(Device& device);
  /// What moves elements between the ranks' devices: "NCCL 2.28.9", "sockets", or "nothing" for one rank.
  std::string way() const;
  /// Why no library of the devices moves them; empty where one does, and for one rank.
  const std::string& reason() const { return reason_; }

 private:
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<LibraryWork> work_;  // null: there is no library
  std::string library_, reason_;
  std::vector<std::pair<Device*, std::shared_ptr<Communicator>>> communicators_;
};

}  // namespace gpulua
