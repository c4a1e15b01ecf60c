#pragma once
// Databases whose traces have every kind of block: bursts, long rests, equal times.

#include <memory>
#include <random>

#include "analysis/database/database.h"
#include "analysis/database/model.h"
#include "viewer/trace/mapped_traces.h"

namespace prof::test {

constexpr uint64_t kTracesBegin = 1'700'000'000'000'000'000;  // similar to the current time

// Returns one profile with a trace for each number of records.
Database traced_database(const std::vector<size_t>& records, uint32_t seed);

// A segment as reading record by record finds it.
struct Segment {
  uint64_t begin_ns, end_ns;
  uint32_t context;
};
std::vector<Segment> segments_of(const TraceSource& trace);

}  // namespace prof::test
