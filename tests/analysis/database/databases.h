#pragma once
// Databases with known and with random contents.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof::test {

// Returns two threads, 13 contexts with an inlined call and nested loops, two metrics, and a trace of the
// main thread.
Database known_database();

struct RandomSize {
  size_t contexts = 200;
  size_t profiles = 5;
  size_t metrics = 3;
  size_t records = 1000;  // per trace
};
// Equal seeds give equal databases.
Database random_database(uint32_t seed, const RandomSize& size);

// Returns a trace of a few records, read three at a time. It starts over after its end.
TraceSource trace_of(std::vector<TraceRecord> records);
std::vector<TraceRecord> records_of(const TraceSource& trace);

}  // namespace prof::test
