/* gpulua.h is for C99 compilers too. */
#include <gpulua/gpulua.h>

gpulua_status header_in_c(gpulua_state* state);

gpulua_status header_in_c(gpulua_state* state) {
  gpulua_options options;
  gpulua_value value = {0};
  gpulua_options_init(&options, sizeof options);
  value.kind = GPULUA_NUMBER;
  value.as.number = 1;
  return gpulua_set(state, "x", &value);
}
