#include <cstdio>
#include <gpulua/gpulua.hpp>

int main() {
  gpulua::State state("cpu");
  state.run("x = gpu.ones(3):sum():item()");
  std::printf("%g\n", state.value<double>("x"));
}
