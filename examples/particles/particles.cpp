// A simulation whose loop, memory and stream are the program's. In each frame a script computes the forces, in place; a
// kernel of the program's moves the particles. Nothing is copied, and no side waits for the other one. Usage: particles
// [frames] [particles]. GPULUA_DEVICE=cpu keeps it off a GPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gpulua/gpulua.hpp>
#include <iterator>
#include <string>
#include <vector>

#include "simulation_memory.h"

namespace {

using Clock = std::chrono::steady_clock;
using Forces = gpulua::Function<void(const gpulua::Array&, const gpulua::Array&, const gpulua::Array&)>;

constexpr const char* motion = R"(
__global__ void move(float* position, float* velocity, const float* force, float dt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  velocity[i] += dt * force[i];
  position[i] += dt * velocity[i];
})";

std::string read_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

int run(int frames, int particles) {
  const int count = 3 * particles;
  std::vector<float> start(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) start[static_cast<std::size_t>(i)] = std::sin(0.1F * static_cast<float>(i));
  const std::vector<float> zeros(start.size());

  const char* const device = std::getenv("GPULUA_DEVICE");
  SimulationMemory memory(device == nullptr || std::string(device).rfind("cuda", 0) == 0);
  float* const positions = memory.allocate(start);
  gpulua_options options = gpulua::State::defaults();
  if (memory.context() == nullptr) options.device = "cpu";
  options.cu_context = memory.context();
  options.cu_stream = memory.stream();
  gpulua::State state(options);
  const std::vector<std::int64_t> rows = {particles, 3};
  const gpulua::Array position = state.borrow(positions, rows), velocity = state.borrow(memory.allocate(zeros), rows),
                      force = state.borrow(memory.allocate(zeros), rows);
  state.run(read_file(FORCES), "forces.lua");
  const Forces forces = state.get<void(const gpulua::Array&, const gpulua::Array&, const gpulua::Array&)>("forces"),
               idle = state.get<void(const gpulua::Array&, const gpulua::Array&, const gpulua::Array&)>("idle");
  const gpulua::Launch move = state.kernel(motion, "move").over(count);

  // The force of a spring: after one period the particles are where they were.
  const double period = 2 * std::acos(-1.0);
  const double dt = period / frames;
  double of_calls = 0;
  Clock::time_point begin;
  for (int frame = 0; frame < frames; ++frame) {
    if (frame == 1) begin = Clock::now();  // the first one compiles the kernels
    const Clock::time_point before = Clock::now();
    forces(position, velocity, force);
    if (frame > 0) of_calls += microseconds_since(before);
    move(position, velocity, force, dt, count);
  }
  const std::vector<float> end = memory.read(positions, start.size());
  const double of_frames = microseconds_since(begin);
  const Clock::time_point before_idle = Clock::now();
  for (int i = 0; i < 1000; ++i) idle(position, velocity, force);
  const double of_idle = microseconds_since(before_idle) / 1000;

  float error = 0;
  for (std::size_t i = 0; i < start.size(); ++i) error = std::max(error, std::abs(end[i] - start[i]));
  std::printf(
      "%s: %d particles, %d frames of %.1f us each; the script's call takes %.2f us of the program's time, one that "
      "does "
      "nothing %.2f us\n",
      std::string(position.device()).c_str(), particles, frames, of_frames / (frames - 1), of_calls / (frames - 1),
      of_idle);
  std::printf("after one period the particles are within %.4f of where they were\n", static_cast<double>(error));
  return error < 0.05F ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::max(2, std::atoi(argv[1])) : 1000, argc > 2 ? std::atoi(argv[2]) : 100000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
