// What a run repaired is told of with all that the runtime counted.

#include "analysis/pipeline/repairs.h"

#include <catch2/catch.hpp>

using namespace prof;
using hpcrun::Counter;

TEST_CASE("locks that stayed are told of by each reason that the runtime has") {
  ProcessMeasurement measurement;
  const auto count = [&](Counter counter) -> uint64_t& {
    return measurement.counters[static_cast<size_t>(counter)];
  };
  uint64_t number = 0;
  for (const Counter counter :
       {Counter::LocksDeclinedRobust, Counter::LocksDeclinedPriority, Counter::LocksDeclinedShared,
        Counter::LocksDeclinedSpin, Counter::LocksDeclinedNoMemory, Counter::LocksDeclinedElided})
    count(counter) = ++number;
  RunRepairs repairs;
  repairs.add(measurement, {});
  repairs.add(measurement, {});
  const RepairsRecord record = repairs.take();
  CHECK(record.declined_locks ==
        std::map<std::string, uint64_t>{
            {"robust", 2}, {"priority", 4}, {"shared", 6}, {"spin", 8}, {"memory", 10}, {"elided", 12}});
}
