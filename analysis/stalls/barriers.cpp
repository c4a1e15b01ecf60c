#include "analysis/stalls/barriers.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

namespace prof {
namespace {

// "gloo::barrier(gloo::BarrierOptions&)" -> "gloo::barrier"; a template's return type is kept.
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
  const std::string names[] = {name, plain, public_name(plain)};
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(
        names, [&](const std::string& one) { return fnmatch(pattern.c_str(), one.c_str(), 0) == 0; });
  });
}

}  // namespace

const std::vector<std::string>& known_barriers() {
  static const std::vector<std::string> kPatterns = {
      // MPI from C and Fortran, called or wrapped. Includes point-to-point calls, in which a rank waits for
      // the sender of a message.
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
      "pthread_barrier_wait", "std::barrier<*", "std::latch::*", "std::__*barrier*", "boost::barrier::*"};
  return kPatterns;
}

std::string public_name(const std::string& name) {
  static constexpr std::string_view kInternal = "__GI_";
  const size_t start = name.starts_with(kInternal) ? kInternal.size() : 0;
  const size_t letter = name.find_first_not_of('_', start);
  return letter == std::string::npos ? name : name.substr(letter);
}

const std::vector<std::string>& known_child_waits() {
  static const std::vector<std::string> kPatterns = {"wait", "wait[34]", "waitpid", "waitid", "libc_wait*"};
  return kPatterns;
}

const std::vector<std::string>& known_blocking_calls() {
  static const std::vector<std::string> kPatterns = [] {
    std::vector<std::string> patterns = {
        "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_join",
        "pthread_timedjoin_np", "pthread_clockjoin_np", "sem_wait", "flock",
        // Internal functions of the C library, if its symbols are known, and those of Rust and others
        "pthread_clockjoin_ex", "lll_lock_wait*", "futex_wait*", "*::futex_wait", "futex_abstimed_wait*",
        "futex_lock_pi*"};
    patterns.insert(patterns.end(), known_child_waits().begin(), known_child_waits().end());
    return patterns;
  }();
  return kPatterns;
}

std::vector<bool> contexts_in(const Database& database, const std::vector<std::string>& patterns) {
  std::vector<bool> is_one(database.functions.size());
  for (size_t f = 0; f < is_one.size(); ++f) is_one[f] = matches_one(database.functions[f].name, patterns);

  std::vector<bool> inside(database.contexts.size());
  for (size_t c = 0; c < inside.size(); ++c) {
    const Context& context = database.contexts[c];
    inside[c] = (context.function < is_one.size() && is_one[context.function]) ||
                (context.parent != kNone && inside[context.parent]);
  }
  return inside;
}

}  // namespace prof
