#pragma once
// The kinds of findings and their severities, and how JSON, CSV and findings.sqlite spell them
// (docs/json.md).

#include <cstdint>
#include <string_view>

#include "analysis/run/spelling.h"

namespace prof {

enum class FindingKind : uint8_t {
  // Findings on costs and waiting.
  HotPath,
  HotSubtree,
  Waiting,
  Stall,
  DeviceIdle,
  CpuIdle,
  EventWait,
  FalseSharing,
  TrueSharing,
  MixedSharing,
  Lock,
  Deadlock,
  IdleThreads,
  DeadStore,
  SilentStore,
  RedundantLoad,
  SlowRank,
  SlowNode,
  LoadImbalance,
  LateByTurns,
  // Findings on differences between runs.
  Regression,
  Improvement,
  ScalingLoss,
  // Findings on the quality of the measurement.
  NoSamples,
  FewSamples,
  Rate,
  Dropped,
  Overhead,
  StackQuality,
  LineInformation,
  Interpreter,
  LocksNotFollowed,
};

// Returns the view of `prof report` that has the evidence: "locks"; empty if there is none.
std::string_view view_of(FindingKind kind);

enum class Severity : uint8_t { Low, Medium, High };

template <>
std::span<const Spelling<FindingKind>> spellings();
template <>
std::span<const Spelling<Severity>> spellings();

}  // namespace prof
