#pragma once
// A job for make_ranks whose ranks wait for each other in a collective operation of MPI, as in the measured
// program.

#include <cstdint>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof::test {

enum class Part : uint8_t {
  Compute,  // the program's own code
  Wait,     // MPI, except its start and end
  Neither,
};

// Returns the part of each node of a thread.
std::vector<Part> parts_of(const ProcessMeasurement& measured, const std::vector<MeasuredNode>& nodes);

// Steps after which all ranks must have arrived. One rank in 500 is slow in all of them. In those of the
// second half, each eighth rank is late in turn.
class Steps {
 public:
  // `slowness`: one per rank, around 1. All steps take about `all_ns`.
  Steps(const std::vector<double>& slowness, uint64_t seed, double all_ns, uint32_t steps);

  struct Step {
    double work_ns, wait_ns;
  };
  // Returns a rank's steps in order.
  std::vector<Step> of_rank(uint32_t rank) const;

 private:
  double work(uint32_t rank, uint32_t step) const;

  const std::vector<double> slowness_;
  uint64_t seed_;
  double unit_ns_ = 1;
  std::vector<double> longest_;  // of each step, in units
};

}  // namespace prof::test
