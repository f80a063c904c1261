#include "src/algorithms/array_collectives.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "src/array/aliasing.h"
#include "src/array/uses.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// Queues the work of a call, for which the arrays have their memory.
void queue(Communicator& ranks, const char* op, OpenDevice& device, std::size_t bytes,
           const std::function<void()>& work) {
  device.check_not_captured("moves arrays between ranks");
  if (ranks.waits()) {
    device.synchronize(*device.stream());
    device.run_on_host(TimelineEntry::Kind::collective, op, static_cast<double>(bytes), work);
  } else {
    device.run_collective(op, device.stream(), static_cast<double>(bytes), work);
  }
}

/// Whether the result of a reduction of `x`, which is row-major, may go straight to `out`: to x itself, or to other
/// memory.
bool takes_elements_of(Node& out, Node& x) {
  return out.contiguous && out.dtype == x.dtype && out.layout.shape == x.layout.shape && &out.device() == &x.device() &&
         (&out == &x || !may_overlap(out, x));
}

/// A row-major array for the elements that `array` is to get.
Array row_major_target(const Array& array) {
  if (array->contiguous) return array;
  check_writable(*array, "comm");
  return empty(array->device(), array->layout.shape, array->dtype);
}

}  // namespace

Array all_reduce(Communicator& ranks, const char* op, const Array& x, Reduction reduction, const Array& out) {
  // Integers of 16 bits wrap around in 32 as they do in 16.
  if (!ranks.reduces(x->dtype)) {
    Array result = astype(all_reduce(ranks, op, astype(x, DType::int32), reduction), x->dtype);
    if (!out) return result;
    copy_into(out, result, op);
    return out;
  }
  OpenDevice& device = x->device();
  const Array in = contiguous(x);
  const bool direct = out && takes_elements_of(*out, *in);
  Array result = direct ? out : empty(device, in->layout.shape, in->dtype);
  Uses uses(device);
  const void* const from = uses.in(in);
  void* const to = result == in ? uses.in_out(result) : uses.overwrite(result);
  queue(ranks, op, device, in->nbytes(), [&] {
    ranks.all_reduce(op, from, to, static_cast<std::size_t>(in->layout.size()), in->dtype, reduction, *device.stream());
  });
  if (!out || direct) return result;
  copy_into(out, result, op);
  return out;
}

Array reduce_scatter(Communicator& ranks, const char* op, const Array& x, Reduction reduction) {
  if (!ranks.reduces(x->dtype)) return astype(reduce_scatter(ranks, op, astype(x, DType::int32), reduction), x->dtype);
  OpenDevice& device = x->device();
  const Array in = contiguous(x);
  Dims shape = in->layout.shape;
  shape[0] /= ranks.size();
  Array part = empty(device, std::move(shape), in->dtype);
  Uses uses(device);
  const void* const from = uses.in(in);
  void* const to = uses.overwrite(part);
  queue(ranks, op, device, in->nbytes(), [&] {
    ranks.reduce_scatter(op, from, to, static_cast<std::size_t>(part->layout.size()), in->dtype, reduction,
                         *device.stream());
  });
  return part;
}

Array all_gather(Communicator& ranks, const char* op, const Array& x) {
  OpenDevice& device = x->device();
  const Array in = contiguous(x);
  Dims shape = in->layout.shape;
  shape[0] *= ranks.size();
  Array all = empty(device, std::move(shape), in->dtype);
  Uses uses(device);
  const void* const from = uses.in(in);
  void* const to = uses.overwrite(all);
  queue(ranks, op, device, all->nbytes(), [&] { ranks.all_gather(op, from, to, in->nbytes(), *device.stream()); });
  return all;
}

void broadcast(Communicator& ranks, const char* op, const Array& x, int root) {
  OpenDevice& device = x->device();
  const bool sends = ranks.rank() == root;
  const Array elements = sends ? contiguous(x) : row_major_target(x);
  void* const memory = sends ? elements->read(device.stream()) : elements->overwrite(device.stream());
  queue(ranks, op, device, x->nbytes(),
        [&] { ranks.broadcast(op, memory, elements->nbytes(), root, *device.stream()); });
  if (!sends && elements != x) copy_into(x, elements);
}

namespace {

/// The kind of a message: the elements of a dtype, whatever their shape.
std::uint32_t kind_of(const Node& array) {
  return static_cast<std::uint32_t>(array.dtype) + 1;
}

}  // namespace

void transfer(Communicator& ranks, const char* op, std::span<const ArrayAndRank> sent,
              std::span<const ArrayAndRank> received) {
  if (sent.empty() && received.empty()) return;
  OpenDevice& device = (sent.empty() ? received : sent).front().first->device();
  std::vector<Array> sources, targets;
  for (const auto& [array, from] : received) targets.push_back(row_major_target(array));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Array& array = sent[i].first;
    // One copy for several ranks.
    if (i > 0 && array == sent[i - 1].first) {
      sources.push_back(sources.back());
      continue;
    }
    // What arrives must not come before the old elements have gone.
    const auto is_overwritten = [&](const Array& target) { return may_overlap(*array, *target); };
    sources.push_back(std::ranges::any_of(targets, is_overwritten) ? copy(array) : contiguous(array));
  }
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    outgoing.push_back({sent[i].second, sources[i]->read(device.stream()), sources[i]->nbytes(), kind_of(*sources[i])});
    bytes += sources[i]->nbytes();
  }
  for (std::size_t i = 0; i < received.size(); ++i)
    incoming.push_back(
        {received[i].second, targets[i]->overwrite(device.stream()), targets[i]->nbytes(), kind_of(*targets[i])});
  queue(ranks, op, device, bytes, [&] { ranks.transfer(op, outgoing, incoming, *device.stream()); });
  for (std::size_t i = 0; i < received.size(); ++i)
    if (targets[i] != received[i].first) copy_into(received[i].first, targets[i]);
}

}  // namespace gpulua
