#pragma once
// The kinds of findings and their severities, and how JSON, CSV and findings.sqlite spell them
// (docs/json.md).

#include <cstdint>
#include <string_view>

#include "analysis/run/spelling.h"

namespace prof {

enum class FindingKind : uint8_t {
  // Where the program spends what it spends, or waits.
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
  SlowRank,
  SlowNode,
  LoadImbalance,
  LateByTurns,
  // What differs between runs.
  Regression,
  Improvement,
  ScalingLoss,
  // How well it was measured.
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

// The view of `prof report` that has the evidence: "locks"; empty if there is none.
std::string_view view_of(FindingKind kind);

enum class Severity : uint8_t { Low, Medium, High };

template <>
std::span<const Spelling<FindingKind>> spellings();
template <>
std::span<const Spelling<Severity>> spellings();

}  // namespace prof
