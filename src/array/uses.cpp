#include "src/array/uses.h"

namespace gpulua {

void Uses::add_guarded(const BufferRef& source) {
  sources_.push_back(source);
  for (const BufferRef& result : results_) result->depend_on(*source);
}

void Uses::add_result(const BufferRef& result) {
  results_.push_back(result);
  for (const BufferRef& source : sources_) result->depend_on(*source);
  for (const CheckRef& check : checks_) result->depend_on(check);
}

void Uses::add_check(const CheckRef& check) {
  checks_.push_back(check);
  for (const BufferRef& result : results_) result->depend_on(check);
}

}  // namespace gpulua
