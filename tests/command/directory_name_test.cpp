#include <catch2/catch.hpp>
#include <cstdlib>

#include "prof/base/message.h"
#include "prof/ranks/directory_name.h"

using namespace prof;

TEST_CASE("a directory's name can have host, process, rank and job in it") {
  const RunIdentity run{"node7", 4711, 3, "99.server/2"};
  CHECK(expand_directory_name("out-%h-%r", run) == "out-node7-3");
  CHECK(expand_directory_name("%p%%", run) == "4711%");
  CHECK(expand_directory_name("/data/%j/x", run) == "/data/99.server_2/x");
  CHECK(expand_directory_name("plain", run) == "plain");
  CHECK(default_directory_name("/bin/app", run) == "prof-app-99.server_2-4711");
}

TEST_CASE("an unknown letter and a percent sign at the end are refused") {
  CHECK_THROWS_AS(expand_directory_name("out-%x", {}), CommandError);
  CHECK_THROWS_AS(expand_directory_name("out%", {}), CommandError);
}

TEST_CASE("job and rank come from the batch system and the MPI library") {
  setenv("FLUX_JOB_ID", "f12", 1);
  setenv("PMIX_RANK", "5", 1);
  CHECK(identity_of_this_run().job_or_time == "f12");
  CHECK(identity_of_this_run().rank == 5);
  unsetenv("FLUX_JOB_ID");
  unsetenv("PMIX_RANK");
  CHECK(identity_of_this_run().rank == 0);
}
