#pragma once

#include <string>

namespace gpulua {

/// How this process was started: alone, or as one of several that run the same script.
struct Job {
  enum class By { itself, gpulua, torchrun, mpi, slurm };

  By by = By::itself;
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // among the processes of this machine
  /// Where rank 0 awaits the others. By::mpi: not used.
  std::string address;
  int port = 0;
  /// By::gpulua, rank 0: the open socket that listens there; else -1.
  int listener = -1;
  /// By::gpulua: a file with a byte for each rank, which is 1 once the rank's process has ended; else -1.
  int ended = -1;
  /// What all processes of the job know; no others do where it has a secret (GPULUA_TOKEN).
  std::string token;
  /// Seconds that a call waits for another rank (GPULUA_COMM_TIMEOUT).
  double timeout = 300;
  /// The file descriptor by which MPICH's launcher takes commands; else -1.
  int launcher = -1;
  /// The MPI library that GPULUA_MPI names; empty: the launcher's.
  std::string mpi_library;

  /// Reads the variables of gpulua --ranks, torchrun, Open MPI, MPICH and Slurm, in this order. Throws Error for values
  /// that make no sense.
  static Job from_environment();

  /// True when all ranks are on this machine for sure: rank 0 is at an address that no other machine reaches.
  bool is_local() const;
};

/// The first host of a list of Slurm's: "node03" of "node[03-05,9],other".
std::string first_host(const std::string& list);
/// The number of a node, from 0, in a list of Slurm's of the processes on each: 1 of node 3 in "2(x3),1". 1 where the
/// list has no such node.
int tasks_of_node(const std::string& list, int node);

}  // namespace gpulua
