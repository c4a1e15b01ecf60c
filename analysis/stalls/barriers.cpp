#include "analysis/stalls/barriers.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

namespace prof {
namespace {

// "gloo::barrier(gloo::BarrierOptions&)" -> "gloo::barrier"; the type that a template returns stays.
std::string plain_name(std::string_view name) {
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth == 0 && i > 0 && (name[i] == '(' || name[i] == '@')) return std::string(name.substr(0, i));
  }
  return std::string(name);
}

bool matches_one(const std::string& name, const std::vector<std::string>& patterns) {
  const std::string plain = plain_name(name);
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || fnmatch(pattern.c_str(), plain.c_str(), 0) == 0;
  });
}

}  // namespace

const std::vector<std::string>& known_barriers() {
  static const std::vector<std::string> kPatterns = {
      // MPI from C and Fortran, called or wrapped. Point-to-point calls, too: who waits for a message waits
      // for
      // whoever sends it.
      "MPI_*", "PMPI_*", "mpi_*_", "pmpi_*_",
      // NCCL and RCCL, Gloo, SHMEM
      "nccl*", "gloo::barrier", "gloo::all*", "gloo::broadcast", "gloo::reduce*", "shmem_barrier*",
      "shmem_sync*", "shmem_*_reduce", "shmem_*_to_all",
      // OpenMP: GCC, LLVM
      "GOMP_barrier*", "GOMP_loop_end", "GOMP_loop_end_cancel", "GOMP_sections_end*", "GOMP_parallel_end",
      "gomp_team_barrier_wait*", "gomp_barrier_wait*", "gomp_simple_barrier_wait", "gomp_team_end",
      "__kmpc_barrier", "__kmpc_cancel_barrier", "__kmpc_reduce*", "__kmp_barrier*", "__kmp_fork_barrier*",
      "__kmp_join_barrier*", "__kmp_hyper_barrier*", "__kmp_hierarchical_barrier*",
      // threads
      "pthread_barrier_wait", "__pthread_barrier_wait", "std::barrier<*", "std::latch::*", "std::__*barrier*",
      "boost::barrier::*"};
  return kPatterns;
}

std::vector<bool> contexts_in_barriers(const Database& database, const std::vector<std::string>& more) {
  std::vector<std::string> patterns = known_barriers();
  patterns.insert(patterns.end(), more.begin(), more.end());
  std::vector<bool> is_barrier(database.functions.size());
  for (size_t f = 0; f < is_barrier.size(); ++f)
    is_barrier[f] = matches_one(database.functions[f].name, patterns);

  std::vector<bool> inside(database.contexts.size());
  for (size_t c = 0; c < inside.size(); ++c) {
    const Context& context = database.contexts[c];
    inside[c] = (context.function < is_barrier.size() && is_barrier[context.function]) ||
                (context.parent != kNone && inside[context.parent]);
  }
  return inside;
}

}  // namespace prof
