#include "tests/analysis/stalls/traced_run.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace prof::test {

TracedRun::TracedRun() {
  const std::vector<std::string> names = {"main", "compute(int)",      "MPI_Barrier", "poll",
                                          "read", "pthread_cond_wait", "futex_wait"};
  const std::vector<uint32_t> parents = {0, kMain, kMain, kBarrier, kMain, kMain, kCondition};
  Context entry;
  entry.kind = ContextKind::Entry;
  entry.entry = "main thread";
  database.contexts.push_back(entry);
  for (uint32_t f = 0; f < names.size(); ++f) {
    database.functions.push_back({names[f]});
    Context context;
    context.parent = parents[f];
    context.function = f;
    database.contexts.push_back(context);
  }
  database.metrics = {{"REALTIME", "sec", ""}};
}

uint32_t TracedRun::thread(int32_t rank, int32_t index, uint64_t begin) {
  Profile profile;
  profile.id = {"host", rank, 1000 + rank, index, ""};
  database.profiles.push_back(profile);
  traces.emplace_back();
  ends.push_back(begin);
  return static_cast<uint32_t>(traces.size() - 1);
}

void TracedRun::sampled(uint32_t thread, uint32_t context, uint64_t until) {
  for (uint64_t& at = ends[thread]; at < until; at = std::min(until, at + kPeriodNs))
    traces[thread].push_back({at, context});
}

void TracedRun::silent(uint32_t thread, uint32_t context, uint64_t until) {
  traces[thread].push_back({ends[thread], context});
  ends[thread] = until;
}

void TracedRun::records(uint32_t thread, const std::vector<TraceRecord>& records) {
  traces[thread] = {records.begin(), records.end() - 1};
  ends[thread] = records.back().time_ns;
}

Database TracedRun::build(size_t block) const {
  Database built = database;
  for (size_t t = 0; t < traces.size(); ++t) {
    auto records = std::make_shared<std::vector<TraceRecord>>(traces[t]);
    if (!records->empty()) records->push_back({ends[t], kNone});
    built.traces.emplace_back([records, block, next = size_t{0}](std::vector<TraceRecord>& out) mutable {
      const size_t count = std::min(block, records->size() - next);
      const auto from = records->begin() + static_cast<ptrdiff_t>(next);
      out.assign(from, from + static_cast<ptrdiff_t>(count));
      next = count == 0 ? 0 : next + count;
      return count > 0;
    });
  }
  return built;
}

std::vector<uint32_t> TracedRun::everyone() const {
  std::vector<uint32_t> all(traces.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace prof::test
