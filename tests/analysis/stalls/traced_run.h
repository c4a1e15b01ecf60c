#pragma once
// Builds traces by hand: the context of each thread over time, and whether it was sampled meanwhile.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof::test {

// Contexts of every traced run. The entry point is 0.
constexpr uint32_t kMain = 1, kCompute = 2, kBarrier = 3, kInBarrier = 4, kBlocked = 5, kCondition = 6,
                   kInCondition = 7;
constexpr uint64_t kPeriodNs = 5'000'000;  // between samples
constexpr uint64_t kMs = 1'000'000;

class TracedRun {
 public:
  TracedRun();

  // Adds a thread with an empty trace that starts at `begin`.
  uint32_t thread(int32_t rank, int32_t index = 0, uint64_t begin = 0);
  // Keeps the thread in this context until `until`, with a record for every period.
  void sampled(uint32_t thread, uint32_t context, uint64_t until);
  // The same with a single record.
  void silent(uint32_t thread, uint32_t context, uint64_t until);
  void gap(uint32_t thread, uint64_t until) { silent(thread, kNone, until); }
  // Adds records with ascending times; each context lasts until the next time.
  void records(uint32_t thread, const std::vector<TraceRecord>& records);

  // Builds a database with one trace per thread, read in blocks of `block` records.
  Database build(size_t block = 7) const;
  std::vector<uint32_t> everyone() const;

  Database database;
  std::vector<std::vector<TraceRecord>> traces;  // each without the record that ends it
  std::vector<uint64_t> ends;
};

}  // namespace prof::test
