#pragma once

#include "src/comm/transport.h"

namespace gpulua {

/// A transport over the MPI library of the launcher, or the one that Job::mpi_library names. It is opened at run time;
/// nothing of MPI is needed to build. Throws Error with what to install when there is none.
std::shared_ptr<Transport> connect_mpi(const Job& job, std::function<void()> while_waiting);

/// Tells MPICH's launcher that this process, which has not opened the MPI library, fails: it ends the others, which may
/// wait in the library for this one. Other launchers see it by the exit code.
void abort_unconnected(const Job& job) noexcept;

}  // namespace gpulua
