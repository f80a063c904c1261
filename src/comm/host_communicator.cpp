#include "src/comm/host_communicator.h"

#include <deque>
#include <utility>
#include <vector>

namespace gpulua {

namespace {

/// One rank alone.
class LoneCommunicator final : public Communicator {
 public:
  explicit LoneCommunicator(Device& device) : Communicator(0, 1), device_(device) {}

  bool waits() const override { return false; }
  bool reduces(DType) const override { return true; }
  void all_reduce(const char*, const void* in, void* out, std::size_t count, DType dtype, Reduction,
                  Stream& stream) override {
    copy(in, out, count * size_of(dtype), stream);
  }
  void reduce_scatter(const char*, const void* in, void* part, std::size_t count, DType dtype, Reduction,
                      Stream& stream) override {
    copy(in, part, count * size_of(dtype), stream);
  }
  void broadcast(const char*, void*, std::size_t, int, Stream&) override {}
  void all_gather(const char*, const void* part, void* all, std::size_t bytes, Stream& stream) override {
    copy(part, all, bytes, stream);
  }
  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                Stream& stream) override {
    copy_own(op, rank(), outgoing, incoming,
             [&](void* to, const void* from, std::size_t bytes) { copy(from, to, bytes, stream); });
  }

 private:
  void copy(const void* from, void* to, std::size_t bytes, Stream& stream) {
    if (bytes > 0 && from != to) device_.copy(to, from, bytes, stream);
  }

  Device& device_;
};

class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(std::shared_ptr<Transport> transport, Device& device)
      : Communicator(transport->rank(), transport->size()), transport_(std::move(transport)), device_(device) {}

  bool waits() const override { return true; }
  bool reduces(DType) const override { return true; }

  void all_reduce(const char* op, const void* in, void* out, std::size_t count, DType dtype, Reduction reduction,
                  Stream& stream) override {
    Elements elements(*this, out, count * size_of(dtype), stream);
    elements.fetch(in);
    transport_->all_reduce(op, elements.memory(), count, dtype, reduction);
    elements.deliver();
  }
  void reduce_scatter(const char* op, const void* in, void* part, std::size_t count, DType dtype, Reduction reduction,
                      Stream& stream) override {
    const std::size_t bytes = count * size_of(dtype);
    Elements all(*this, const_cast<void*>(in), bytes * static_cast<std::size_t>(size()), stream);
    all.fetch(in);
    Elements own(*this, part, bytes, stream);
    transport_->reduce_scatter(op, all.memory(), own.memory(), count, dtype, reduction);
    own.deliver();
  }
  void broadcast(const char* op, void* data, std::size_t bytes, int root, Stream& stream) override {
    Elements elements(*this, data, bytes, stream);
    if (rank() == root) elements.fetch(data);
    transport_->broadcast(op, elements.memory(), bytes, root);
    if (rank() != root) elements.deliver();
  }
  void all_gather(const char* op, const void* part, void* all, std::size_t bytes, Stream& stream) override {
    Elements own(*this, const_cast<void*>(part), bytes, stream);
    own.fetch(part);
    Elements everything(*this, all, bytes * static_cast<std::size_t>(size()), stream);
    transport_->all_gather(op, own.memory(), everything.memory(), bytes);
    everything.deliver();
  }
  void transfer(const char* op, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                Stream& stream) override {
    std::deque<Elements> sent, received;
    std::vector<Outgoing> from_host;
    std::vector<Incoming> to_host;
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
      const Outgoing& message = outgoing[i];
      // What goes to several ranks is fetched once.
      if (i == 0 || message.memory != outgoing[i - 1].memory || message.bytes != outgoing[i - 1].bytes)
        sent.emplace_back(*this, const_cast<void*>(message.memory), message.bytes, stream).fetch(message.memory);
      from_host.push_back({message.to, sent.back().memory(), message.bytes, message.kind});
    }
    for (const Incoming& message : incoming)
      to_host.push_back({message.from, received.emplace_back(*this, message.memory, message.bytes, stream).memory(),
                         message.bytes, message.kind});
    transport_->transfer(op, from_host, to_host);
    for (Elements& elements : received) elements.deliver();
  }

 private:
  /// Elements of the device in the memory of the host: the same ones, or a copy.
  class Elements {
   public:
    Elements(const HostCommunicator& owner, void* on_device, std::size_t bytes, Stream& stream)
        : device_(owner.device_), on_device_(on_device), bytes_(bytes), stream_(stream) {
      if (!device_.info().in_host_memory) copy_.resize(bytes);
    }

    void* memory() { return device_.info().in_host_memory ? on_device_ : copy_.data(); }
    void fetch(const void* from) {
      if (bytes_ == 0) return;
      if (!device_.info().in_host_memory)
        device_.download(copy_.data(), from, bytes_, stream_);
      else if (from != on_device_)
        device_.copy(on_device_, from, bytes_, stream_);
    }
    void deliver() {
      if (!copy_.empty()) device_.upload(on_device_, copy_.data(), bytes_, stream_);
    }

   private:
    Device& device_;
    void* on_device_;
    std::size_t bytes_;
    Stream& stream_;
    std::vector<char> copy_;
  };

  std::shared_ptr<Transport> transport_;
  Device& device_;
};

}  // namespace

std::shared_ptr<Communicator> make_host_communicator(std::shared_ptr<Transport> transport, Device& device) {
  if (transport->size() == 1) return std::make_shared<LoneCommunicator>(device);
  return std::make_shared<HostCommunicator>(std::move(transport), device);
}

}  // namespace gpulua
