#include "src/expressions/random.h"

#include <array>

#include "src/array/capture.h"
#include "src/base/error.h"
#include "src/expressions/creation.h"

namespace gpulua {

namespace {

/// How many numbers a block of the stream gives.
std::uint64_t numbers_in_block(const OpInfo& op, DType compute) {
  if (op.vectorised.empty()) return 1;
  return size_of(compute) == 8 ? 2 : 4;
}

/// The number of blocks of the stream for `numbers` random numbers.
std::uint64_t blocks_for(const OpInfo& op, std::uint64_t numbers, DType compute) {
  const std::uint64_t in_a_block = numbers_in_block(op, compute);
  return (numbers + in_a_block - 1) / in_a_block;
}

/// The seed of a stream, and the number of the first block of a draw.
using Place = std::array<Array, 2>;

/// Reserves blocks of the stream: now, and again whenever a recorded function runs.
Place reserve(const std::shared_ptr<OpenDevice>& device, const std::shared_ptr<RandomStream>& stream,
              std::uint64_t blocks) {
  Evaluator& evaluator = device->evaluator();
  if (Capture* capture = evaluator.capture()) {
    const Array words = capture->words([stream, blocks] {
      return std::array<std::uint64_t, 2>{stream->seed, stream->reserve(blocks)};
    });
    const auto word = [&](std::int64_t i) {
      return view(words, index(words->layout, std::array{IndexSpec{IndexSpec::Kind::integer, i}}));
    };
    return {word(0), word(1)};
  }
  const Place place{constant(*device, {}, DType::uint64, stream->seed),
                    constant(*device, {}, DType::uint64, stream->reserve(blocks))};
  if (Trace* trace = evaluator.trace()) {
    trace->renew(place[0], [stream] { return Scalar(stream->seed); });
    trace->renew(place[1], [stream, blocks] { return Scalar(stream->reserve(blocks)); });
  }
  return place;
}

}  // namespace

std::uint64_t RandomStream::reserve(std::uint64_t blocks) {
  const std::uint64_t first = offset / 4;
  offset += blocks * 4;
  return first;
}

Array random(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype,
             const std::shared_ptr<RandomStream>& stream, std::span<const Operand> parameters,
             std::optional<DType> compute) {
  check_extent(*device, shape);
  const auto numbers = static_cast<std::uint64_t>(checked_size(shape));
  Pending pending;
  pending.compute = compute.value_or(dtype);
  for (const Operand& operand : parameters) {
    if (const auto* number = std::get_if<Scalar>(&operand)) {
      pending.inputs.push_back(constant(*device, {}, pending.compute, *number));
      continue;
    }
    const Array& array = std::get<Array>(operand);
    if (&array->device() != device.get())
      throw Error("[{}] expected parameters on {}, got an array on {}; x:to(name) copies one over", op.name,
                  device->name(), array->device().name());
    const Dims* shapes[] = {&shape, &array->layout.shape};
    if (broadcast_shapes(op.name.data(), shapes) != shape)
      throw Error("[{}] expected parameters that broadcast to {}, got {}", op.name, to_string(shape),
                  to_string(array->layout.shape));
    pending.inputs.push_back(array);
  }
  const Place place = reserve(device, stream, blocks_for(op, numbers, pending.compute));
  pending.inputs.insert(pending.inputs.begin(), place.begin(), place.end());
  return operation(*device, op, std::move(shape), dtype, std::move(pending));
}

Array random_part(const std::shared_ptr<OpenDevice>& device, const OpInfo& op, Dims shape, DType dtype,
                  const std::shared_ptr<RandomStream>& stream, const RandomPart& part) {
  Evaluator& evaluator = device->evaluator();
  if (evaluator.capture() || evaluator.trace())
    throw Error("[random] expected the option part outside of a function that gpu.fuse or gpu.graph records");
  const std::int64_t count = checked_size(shape);
  const std::uint64_t start = stream->offset, blocks = blocks_for(op, static_cast<std::uint64_t>(part.total), dtype);
  const auto in_a_block = static_cast<std::int64_t>(numbers_in_block(op, dtype));
  const std::int64_t before = part.skipped % in_a_block;
  stream->reserve(static_cast<std::uint64_t>(part.skipped / in_a_block));
  const Array numbers = random(device, op, before == 0 ? shape : Dims{before + count}, dtype, stream);
  *stream = {stream->seed, start};
  stream->reserve(blocks);
  if (before == 0) return numbers;
  Layout layout = row_major(std::move(shape));
  layout.offset = before;
  return view(numbers, std::move(layout));
}

}  // namespace gpulua
