#pragma once

#include <unistd.h>

#include <string>

#include "src/comm/meeting.h"

namespace gpulua {

/// The job of one rank, which meets the others at `listener`. Rank 0 has the listener.
inline Job job_of(int rank, int size, const Socket& listener, const std::string& token = "secret") {
  Job job;
  job.by = Job::By::gpulua;
  job.rank = rank;
  job.size = size;
  job.address = "127.0.0.1";
  job.port = port_of(listener);
  job.token = token;
  if (rank == 0) job.listener = ::dup(listener.descriptor());
  return job;
}

}  // namespace gpulua
