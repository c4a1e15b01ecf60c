#include "analysis/stalls/barriers.h"

#include <catch2/catch.hpp>

using namespace prof;

namespace {

bool is_barrier(const std::string& name, const std::vector<std::string>& more = {}) {
  Database database;
  database.functions = {{name}};
  database.contexts.resize(1);
  database.contexts[0].function = 0;
  std::vector<std::string> patterns = known_barriers();
  patterns.insert(patterns.end(), more.begin(), more.end());
  return contexts_in(database, patterns)[0];
}

}  // namespace

TEST_CASE("Barriers and collectives are known by name") {
  for (const char* name :
       {"MPI_Allreduce", "PMPI_Barrier", "mpi_barrier_", "ncclAllReduce", "GOMP_barrier",
        "gomp_team_barrier_wait_end", "__kmpc_barrier", "pthread_barrier_wait",
        "pthread_barrier_wait@@GLIBC_2.34", "__pthread_barrier_wait", "___pthread_barrier_wait",
        "gloo::barrier(gloo::BarrierOptions&)", "std::barrier<std::__empty_completion>::arrive_and_wait()"}) {
    CAPTURE(name);
    CHECK(is_barrier(name));
  }
  for (const char* name : {"main", "read", "pthread_mutex_lock", "barrier_free_compute", "my_MPI_Barrier",
                           "(anonymous namespace)::compute(MPI_Comm)", ""}) {
    CAPTURE(name);
    CHECK_FALSE(is_barrier(name));
  }
}

TEST_CASE("Calls that go on after a sample are known by name") {
  const auto is_blocking = [](const char* name) -> bool {
    Database database;
    database.functions = {{name}};
    database.contexts.resize(1);
    database.contexts[0].function = 0;
    return contexts_in(database, known_blocking_calls())[0];
  };
  for (const char* name : {"pthread_cond_wait@@GLIBC_2.3.2", "___pthread_cond_wait", "__GI___lll_lock_wait",
                           "__futex_abstimed_wait_common64", "std::sys::pal::unix::futex::futex_wait",
                           "__pthread_clockjoin_ex", "__GI___wait4", "flock"}) {
    CAPTURE(name);
    CHECK(is_blocking(name));
  }
  for (const char* name :
       {"main", "pthread_mutex_lock", "pthread_cond_signal", "wait_for_input", "futex_wake"}) {
    CAPTURE(name);
    CHECK_FALSE(is_blocking(name));
  }
}

TEST_CASE("More barriers can be named, with patterns") {
  CHECK_FALSE(is_barrier("wait_for_all(int)"));
  CHECK(is_barrier("wait_for_all(int)", {"wait_for_all"}));
  CHECK(is_barrier("app::Team::wait_for_all(int)", {"*::wait_for_*"}));
  CHECK_FALSE(is_barrier("app::Team::wait_for_all(int)", {"wait_for_all"}));
}

TEST_CASE("All that a barrier calls is in the barrier") {
  Database database;
  database.functions = {{"main"}, {"MPI_Barrier"}, {"poll"}};
  database.contexts.resize(5);
  database.contexts[0].kind = ContextKind::Entry;
  const uint32_t parents[] = {kNone, 0, 1, 2, 1}, functions[] = {kNone, 0, 1, 2, 2};
  for (uint32_t c = 0; c < 5; ++c) {
    database.contexts[c].parent = parents[c];
    database.contexts[c].function = functions[c];
  }
  CHECK(contexts_in(database, known_barriers()) == std::vector<bool>{false, false, true, true, false});
}
