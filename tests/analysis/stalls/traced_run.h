#pragma once
// Traces made by hand: what each thread was in from when to when, and whether samples came meanwhile.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof::test {

// Contexts of every traced run; the entry point is 0.
constexpr uint32_t kMain = 1, kCompute = 2, kBarrier = 3, kInBarrier = 4, kBlocked = 5, kCondition = 6,
                   kInCondition = 7;
constexpr uint64_t kPeriod = 5'000'000;  // ns between samples
constexpr uint64_t kMs = 1'000'000;

class TracedRun {
 public:
  TracedRun();

  // A thread whose trace is empty yet, beginning at `begin`.
  uint32_t thread(int32_t rank, int32_t index = 0, uint64_t begin = 0);
  // It is in this context until then, with a record for every period.
  void sampled(uint32_t thread, uint32_t context, uint64_t until);
  // ... with one record only.
  void silent(uint32_t thread, uint32_t context, uint64_t until);
  void gap(uint32_t thread, uint64_t until) { silent(thread, kNone, until); }
  // `times` are record times, rising; in the i-th context until the next time.
  void records(uint32_t thread, const std::vector<TraceRecord>& records);

  // With one trace for each thread, handed out in blocks of `block` records.
  Database build(size_t block = 7) const;
  std::vector<uint32_t> everyone() const;

  Database database;
  std::vector<std::vector<TraceRecord>> traces;  // each without the record that ends it
  std::vector<uint64_t> ends;
};

}  // namespace prof::test
