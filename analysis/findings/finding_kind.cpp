#include "analysis/findings/finding_kind.h"

namespace prof {
namespace {

constexpr Spelling<FindingKind> kKinds[] = {
    {FindingKind::HotPath, "hot-path"},
    {FindingKind::HotSubtree, "hot-subtree"},
    {FindingKind::Waiting, "waiting"},
    {FindingKind::Stall, "stall"},
    {FindingKind::DeviceIdle, "device-idle"},
    {FindingKind::CpuIdle, "cpu-idle"},
    {FindingKind::EventWait, "event-wait"},
    {FindingKind::FalseSharing, "false-sharing"},
    {FindingKind::TrueSharing, "true-sharing"},
    {FindingKind::MixedSharing, "mixed-sharing"},
    {FindingKind::Lock, "lock"},
    {FindingKind::Deadlock, "deadlock"},
    {FindingKind::IdleThreads, "idle-threads"},
    {FindingKind::DeadStore, "dead-store"},
    {FindingKind::SilentStore, "silent-store"},
    {FindingKind::RedundantLoad, "redundant-load"},
    {FindingKind::SlowRank, "slow-rank"},
    {FindingKind::SlowNode, "slow-node"},
    {FindingKind::LoadImbalance, "load-imbalance"},
    {FindingKind::LateByTurns, "late-by-turns"},
    {FindingKind::Regression, "regression"},
    {FindingKind::Improvement, "improvement"},
    {FindingKind::ScalingLoss, "scaling-loss"},
    {FindingKind::NoSamples, "no-samples"},
    {FindingKind::FewSamples, "few-samples"},
    {FindingKind::Rate, "rate"},
    {FindingKind::Dropped, "dropped"},
    {FindingKind::Overhead, "overhead"},
    {FindingKind::StackQuality, "stack-quality"},
    {FindingKind::LineInformation, "line-information"},
    {FindingKind::Interpreter, "interpreter"},
    {FindingKind::LocksNotFollowed, "locks-not-followed"},
};

constexpr Spelling<Severity> kSeverities[] = {
    {Severity::Low, "low"}, {Severity::Medium, "medium"}, {Severity::High, "high"}};

}  // namespace

std::string_view view_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::HotPath:
    case FindingKind::HotSubtree:
      return "top-down";
    case FindingKind::Stall:
      return "stalls";
    case FindingKind::DeviceIdle:
    case FindingKind::CpuIdle:
    case FindingKind::EventWait:
      return "idleness";
    case FindingKind::FalseSharing:
    case FindingKind::TrueSharing:
    case FindingKind::MixedSharing:
      return "contention";
    case FindingKind::SlowRank:
    case FindingKind::SlowNode:
    case FindingKind::LoadImbalance:
    case FindingKind::LateByTurns:
      return "ranks";
    case FindingKind::Lock:
    case FindingKind::Deadlock:
    case FindingKind::IdleThreads:
      return "locks";
    case FindingKind::DeadStore:
    case FindingKind::SilentStore:
    case FindingKind::RedundantLoad:
      return "memory-waste";
    default:
      return {};
  }
}

template <>
std::span<const Spelling<FindingKind>> spellings() {
  return kKinds;
}

template <>
std::span<const Spelling<Severity>> spellings() {
  return kSeverities;
}

}  // namespace prof
