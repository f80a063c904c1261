#include "src/comm/rank_devices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/base/error.h"
#include "src/comm/host_communicator.h"

namespace gpulua {

namespace {

std::string reason_against_library(std::span<const DeviceWord> words) {
  const auto rank = [](std::size_t i) { return "rank " + std::to_string(i); };
  std::map<std::string, std::size_t> ranks;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].library.empty()) return rank(i) + ": " + words[i].why;
    if (words[i].library != words[0].library)
      return words[0].library + " on rank 0, " + words[i].library + " on " + rank(i);
    const auto [other, is_new] = ranks.emplace(words[i].hardware_id, i);
    if (!is_new) return rank(other->second) + " and " + rank(i) + " share one GPU";
  }
  return {};
}

}  // namespace

Agreement agree(Transport& ranks, const DeviceWord& own, const std::string& id) {
  // The id is bytes, and comes last.
  const std::string text = own.hardware_id + '\n' + own.library + '\n' + own.why + '\n' + id;
  Agreement agreement;
  std::vector<DeviceWord> words;
  for (const std::string& said : ranks.gather_texts("comm", text)) {
    std::size_t first = 0;
    const auto next = [&] {
      const std::size_t end = said.find('\n', first);
      return said.substr(std::exchange(first, end + 1), end - first);
    };
    DeviceWord& word = words.emplace_back();
    word.hardware_id = next();
    word.library = next();
    word.why = next();
    if (words.size() == 1) agreement.id = said.substr(first);
  }
  agreement.reason = reason_against_library(words);
  return agreement;
}

LibraryWork::LibraryWork(std::shared_ptr<Transport> job, double timeout, std::function<void()> check_interrupt)
    : job_(std::move(job)), timeout_(timeout), check_interrupt_(std::move(check_interrupt)) {}

std::shared_ptr<Communicator> LibraryWork::join(CollectiveLibrary& library, const std::string& id, int rank, int size) {
  auto communicator = library.join(id, rank, size, [this] { look(); });
  std::erase_if(communicators_, [](const auto& weak) { return weak.expired(); });
  communicators_.push_back(communicator);
  return communicator;
}

void LibraryWork::begin(const char* op, bool of_all) {
  op_ = op;
  of_all_ = of_all;
  ++calls_;
  if (of_all) ++collectives_;
}

bool LibraryWork::done() {
  return std::ranges::all_of(communicators_, [](const auto& weak) {
    const auto communicator = weak.lock();
    return !communicator || communicator->done();
  });
}

void LibraryWork::watch() {
  if (done())
    last_look_ = {};
  else
    look();
}

void LibraryWork::look() {
  try {
    check_interrupt_();
    job_->check(op_.c_str());
    for (const auto& weak : communicators_) {
      const auto communicator = weak.lock();
      const std::string failure = communicator ? communicator->failure() : "";
      if (!failure.empty()) throw Error(ErrorKind::device, "[{}] expected ranks that work, got {}", op_, failure);
    }
    check_time();
  } catch (...) {
    abort();
    throw;
  }
}

void LibraryWork::check_time() {
  constexpr std::chrono::seconds apart{1};  // looks of one wait are closer
  const auto now = Clock::now();
  if (now - last_look_ > apart || awaited_ != calls_) since_ = now;
  last_look_ = now;
  awaited_ = calls_;
  job_->report(collectives_);
  if (now - since_ < timeout_) return;
  const std::string missing = of_all_ ? job_->missing(collectives_) : "";
  throw Error(ErrorKind::device,
              "[{}] timed out after {} s waiting for {}; GPULUA_COMM_TIMEOUT sets the time, and gpu.debug(true) names "
              "the lines",
              op_, static_cast<long>(timeout_.count()), missing.empty() ? "another rank" : missing);
}

void LibraryWork::abort() noexcept {
  for (const auto& weak : communicators_)
    if (const auto communicator = weak.lock()) communicator->abort();
}

void Ranks::connect_devices(Device& device, std::shared_ptr<LibraryWork> work) {
  DeviceWord own;
  CollectiveLibrary* const library = device.collectives(own.why);
  std::string id;
  if (library != nullptr) {
    own.library = library->name();
    own.hardware_id = device.hardware_id();
    if (transport_->rank() == 0) id = library->make_id();
  }
  Agreement agreement = agree(*transport_, own, id);
  reason_ = std::move(agreement.reason);
  if (!reason_.empty()) return;
  library_ = own.library;
  work_ = std::move(work);
  communicators_.emplace_back(&device, work_->join(*library, agreement.id, transport_->rank(), transport_->size()));
}

Communicator& Ranks::communicator(Device& device) {
  for (const auto& [of, communicator] : communicators_)
    if (of == &device) return *communicator;
  return *communicators_.emplace_back(&device, make_host_communicator(transport_, device)).second;
}

std::string Ranks::way() const {
  if (transport_->size() == 1) return "nothing";
  return library_.empty() ? transport_->name() : library_;
}

}  // namespace gpulua
