#include "hpcrun/process/rank_of_process.h"

#include <stdlib.h>

#include <atomic>

#include "hpcrun/guest/environment.h"
#include "hpcrun/mpi/rank.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

std::atomic<uint64_t> by_mpi{0};  // as in the counter

}  // namespace

int rank_of_process() noexcept {
  for (const RankVariables& names : kRankVariables) {
    const char* const value = environment_value(names.rank);
    if (value && (!names.with_size_only || environment_value(names.size))) return atoi(value);
  }
  return -1;
}

void note_rank_by_mpi(int32_t rank, int32_t ranks) noexcept {
  stop_waiting_for_first_sample();
  by_mpi.store(uint64_t{static_cast<uint32_t>(ranks)} << 32 | (static_cast<uint32_t>(rank) + 1));
  write_rank_by_mpi();
}

void write_rank_by_mpi() noexcept {
  if (const uint64_t known = by_mpi.load()) process_state.file.counter(Counter::RankByMpi).store(known);
}

}  // namespace hpcrun

__attribute__((visibility("default"))) void hpcrun_set_rank(int32_t rank, int32_t ranks) noexcept {
  hpcrun::note_rank_by_mpi(rank, ranks);
}
