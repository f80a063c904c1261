#include <gpulua/gpulua.h>
#include <stdio.h>

int main(void) {
  const char script[] = "print('the sum is ' .. gpu.arange(1000):sum():item())";
  gpulua_state* state;
  if (gpulua_create(NULL, &state) != GPULUA_OK || gpulua_run(state, script, sizeof script - 1, "sum.lua") != GPULUA_OK)
    return fprintf(stderr, "%s\n", gpulua_error(NULL)), 1;
  return gpulua_destroy(state);
}
