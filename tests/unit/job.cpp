#include "src/base/job.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "tests/catch.h"

using namespace gpulua;

namespace {

/// Sets variables of the environment as long as it lives.
class Variables {
 public:
  explicit Variables(std::vector<std::pair<const char*, const char*>> variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) ::setenv(name, value, 1);
  }
  ~Variables() {
    for (const auto& [name, value] : variables_) ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, const char*>> variables_;
};

}  // namespace

TEST_CASE("the first host of Slurm's lists") {
  CHECK(first_host("node7") == "node7");
  CHECK(first_host("node[03-05,9],other") == "node03");
  CHECK(first_host("a,b[1-2]") == "a");
  CHECK(first_host("rack1-[12]") == "rack1-12");
}

TEST_CASE("the processes on a node in Slurm's lists") {
  CHECK(tasks_of_node("2", 0) == 2);
  CHECK(tasks_of_node("2(x3),1", 0) == 2);
  CHECK(tasks_of_node("2(x3),1", 2) == 2);
  CHECK(tasks_of_node("2(x3),1", 3) == 1);
  CHECK(tasks_of_node("16,8(x2)", 2) == 8);
  CHECK(tasks_of_node("16,8(x2)", 3) == 1);
  CHECK(tasks_of_node("", 0) == 1);
  CHECK(tasks_of_node("?", 5) == 1);
}

TEST_CASE("a process that no launcher has started is alone") {
  const Job job = Job::from_environment();
  CHECK(job.by == Job::By::itself);
  CHECK((job.rank == 0 && job.size == 1 && job.local_rank == 0));
}

TEST_CASE("a job by the variables of its launcher") {
  SECTION("torchrun, which listens itself") {
    const Variables variables({{"RANK", "3"},
                               {"WORLD_SIZE", "4"},
                               {"LOCAL_RANK", "1"},
                               {"MASTER_ADDR", "host"},
                               {"MASTER_PORT", "29500"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
    const Job job = Job::from_environment();
    CHECK(job.by == Job::By::torchrun);
    CHECK((job.rank == 3 && job.size == 4 && job.local_rank == 1 && job.address == "host" && job.port == 29501));
    const Variables secret({std::pair("GPULUA_TOKEN", "a secret")});
    CHECK(Job::from_environment().token != job.token);
  }
  SECTION("torchrun's without the address") {
    const Variables variables({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
    CHECK_THROWS_WITH(Job::from_environment(),
                      Catch::Matchers::StartsWith("[comm] expected MASTER_ADDR and MASTER_PORT"));
  }
  SECTION("Open MPI") {
    const Variables variables({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
    const Job job = Job::from_environment();
    CHECK((job.by == Job::By::mpi && job.rank == 1 && job.size == 2));
  }
  SECTION("Slurm") {
    const Variables variables({{"SLURM_STEP_ID", "0"},
                               {"SLURM_JOB_ID", "70000"},
                               {"SLURM_PROCID", "1"},
                               {"SLURM_NTASKS", "2"},
                               {"SLURM_NODEID", "1"},
                               {"SLURM_STEP_TASKS_PER_NODE", "1,3"},
                               {"SLURM_STEP_NODELIST", "n[1-2]"}});
    const Job job = Job::from_environment();
    CHECK(job.local_size == 3);
    CHECK((job.by == Job::By::slurm && job.address == "n1" && job.port == 61440 + 70000 % 4096));
  }
  SECTION("none is wanted") {
    const Variables variables({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"GPULUA_COMM", "none"}});
    CHECK(Job::from_environment().size == 1);
  }
  SECTION("a rank that is not of the job") {
    const Variables variables({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}});
    CHECK_THROWS_WITH(Job::from_environment(), "[comm] expected PMI_RANK to be an integer from 0 to 1, got \"2\"");
  }
}
