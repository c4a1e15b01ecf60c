#pragma once
// Defines the metrics of locks and of threads that wait for each other. The analysis computes their values
// from the streams of locks in the measurement file (format.h). Values of the enum are part of the format:
// append only.

#include <cstdint>

#include "hpcrun/measurement/described_metric.h"

namespace hpcrun {

enum class LockMetric : uint16_t {
  Wait = 32,
  Blame = 33,
  Blocked = 34,
  IdleBlame = 35,
};

constexpr DescribedMetric<LockMetric> kLockMetrics[] = {
    {LockMetric::Wait, "LOCK_WAIT", "time that a thread waited for a lock, at the waiting call; exact"},
    {LockMetric::Blame, "LOCK_BLAME", "time that threads waited for a lock, at the releasing call; exact"},
    {LockMetric::Blocked, "BLOCKED",
     "time that a thread waited at a condition variable, semaphore or barrier, or for another thread to end; "
     "exact"},
    {LockMetric::IdleBlame, "IDLE_BLAME",
     "time that threads waited for others without a lock while this code worked, divided among the working "
     "threads; sampled"},
};

}  // namespace hpcrun
