#include "src/base/job.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "src/base/error.h"

namespace gpulua {

namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The variable's integer in [low, high]; `otherwise` when it is not set.
int number(const char* name, int low, int high, std::optional<int> otherwise = std::nullopt) {
  const std::string value = text(name);
  if (value.empty() && otherwise) return *otherwise;
  int result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result < low || result > high)
    throw Error("[comm] expected {} to be an integer from {} to {}, got \"{}\"", name, low, high, value);
  return result;
}

constexpr int most_ranks = 1 << 20;
constexpr int last_port = 65535;

void read_ranks(Job& job, Job::By by, const char* rank, const char* size, const char* local_rank,
                const char* local_size) {
  job.by = by;
  job.size = number(size, 1, most_ranks);
  job.rank = number(rank, 0, job.size - 1);
  job.local_rank = number(local_rank, 0, most_ranks, 0);
  if (local_size != nullptr) job.local_size = number(local_size, 1, most_ranks, 1);
}

bool is_set(const char* name) {
  return !text(name).empty();
}

/// Slurm gives each job an own number, and so an own port.
void read_slurm(Job& job) {
  constexpr int first_port = 61440, ports = 4096;
  read_ranks(job, Job::By::slurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr);
  job.local_size = tasks_of_node(text("SLURM_STEP_TASKS_PER_NODE"), number("SLURM_NODEID", 0, most_ranks, 0));
  job.address = first_host(text("SLURM_STEP_NODELIST"));
  job.token = text("GPULUA_TOKEN") + "." + text("SLURM_JOB_ID") + "." + text("SLURM_STEP_ID");
  job.port = first_port + static_cast<int>(std::strtoull(text("SLURM_JOB_ID").c_str(), nullptr, 10) % ports);
}

void read_torchrun(Job& job) {
  read_ranks(job, Job::By::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE");
  job.address = text("MASTER_ADDR");
  job.port = number("MASTER_PORT", 1, last_port - 1);
  // torchrun itself listens at the port then.
  if (text("TORCHELASTIC_USE_AGENT_STORE") == "True") ++job.port;
  job.token = text("GPULUA_TOKEN") + "." + text("TORCHELASTIC_RUN_ID");
}

void read_own(Job& job) {
  read_ranks(job, Job::By::gpulua, "GPULUA_RANK", "GPULUA_SIZE", "GPULUA_LOCAL_RANK", "GPULUA_SIZE");
  job.address = "127.0.0.1";
  job.port = number("GPULUA_STORE_PORT", 1, last_port);
  if (job.rank == 0) job.listener = number("GPULUA_STORE_FD", 0, 1 << 20);
  job.ended = number("GPULUA_ENDED_FD", 0, 1 << 20);
  job.token = text("GPULUA_TOKEN");
}

}  // namespace

std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find_first_of("[,");
  if (bracket == list.npos || list[bracket] == ',') return list.substr(0, bracket);
  const std::size_t end = list.find_first_of("-,]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

int tasks_of_node(const std::string& list, int node) {
  const char* next = list.data();
  const char* const end = next + list.size();
  while (next < end) {
    int tasks = 1, nodes = 1;
    next = std::from_chars(next, end, tasks).ptr;
    if (next + 1 < end && next[0] == '(' && next[1] == 'x') next = std::from_chars(next + 2, end, nodes).ptr + 1;
    if (node < nodes) return tasks;
    node -= nodes;
    ++next;  // the comma
  }
  return 1;
}

bool Job::is_local() const {
  return address == "localhost" || address == "127.0.0.1";
}

Job Job::from_environment() {
  Job job;
  job.timeout = number("GPULUA_COMM_TIMEOUT", 1, 1 << 30, 300);
  job.mpi_library = text("GPULUA_MPI");
  const std::string wanted = text("GPULUA_COMM");
  if (wanted == "none") return job;
  if (!wanted.empty()) throw Error("[comm] expected GPULUA_COMM to be none, or not set, got \"{}\"", wanted);
  if (is_set("GPULUA_RANK")) {
    read_own(job);
  } else if (is_set("RANK") && is_set("WORLD_SIZE") && is_set("MASTER_ADDR")) {
    read_torchrun(job);
  } else if (is_set("OMPI_COMM_WORLD_SIZE")) {
    read_ranks(job, By::mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
               "OMPI_COMM_WORLD_LOCAL_SIZE");
  } else if (is_set("PMI_RANK") && is_set("PMI_SIZE")) {
    read_ranks(job, By::mpi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS");
    job.launcher = number("PMI_FD", 0, 1 << 20, -1);
  } else if (is_set("SLURM_STEP_ID") && is_set("SLURM_PROCID") && number("SLURM_NTASKS", 1, most_ranks, 1) > 1) {
    read_slurm(job);
  } else if (is_set("RANK") && is_set("WORLD_SIZE") && number("WORLD_SIZE", 1, most_ranks) > 1) {
    throw Error(
        "[comm] expected MASTER_ADDR and MASTER_PORT, where the ranks meet, beside RANK and WORLD_SIZE = {}, got none; "
        "GPULUA_COMM=none runs each process alone",
        text("WORLD_SIZE"));
  }
  return job;
}

}  // namespace gpulua
