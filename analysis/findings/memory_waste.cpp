#include "analysis/findings/memory_waste.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/run/format_waste.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"

namespace prof {
namespace {

using hpcrun::WasteKind;

// Shares of the bytes that were checked.
constexpr double kMinWaste = 0.02, kMediumWaste = 0.10, kHighWaste = 0.30;
constexpr uint64_t kMinSampled = 5;  // sampled accesses; fewer may be chance

FindingKind finding_kind_of(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return FindingKind::DeadStore;
    case WasteKind::SilentStore:
      return FindingKind::SilentStore;
    case WasteKind::RedundantLoad:
      return FindingKind::RedundantLoad;
  }
  return FindingKind::DeadStore;
}

const char* wasted_metric(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return "DEAD_WRITE";
    case WasteKind::SilentStore:
      return "SILENT_WRITE";
    case WasteKind::RedundantLoad:
      return "REDUNDANT_LOAD";
  }
  return "";
}

WasteShare share_of_waste(const RunSummary& run, const WasteByLine& waste) {
  const WasteTotal* const total = total_of(run.memory_waste, waste.main->kind);
  return total ? waste_share(run.memory_waste, *total, waste.bytes) : WasteShare{};
}

bool is_worth_a_finding(const RunSummary& run, const WasteByLine& waste) {
  return share_of_waste(run, waste).value >= kMinWaste &&
         (run.memory_waste.is_exact || waste.count >= kMinSampled);
}

double share_of_cpu(double seconds, const RunSummary& run) {
  const double cpu_s = run.cpu_s.value_or(0);
  return cpu_s > 0 ? std::min(1.0, seconds / cpu_s) : 0;
}

void add_contexts(const CallTree& tree, const WastePair& pair, Finding& finding) {
  const WasteRoles roles = roles_of(pair.kind);
  WastePaths paths = paths_of(tree, pair);
  const bool is_first = pair.kind == WasteKind::DeadStore;
  finding.contexts.push_back({roles.first, std::move(paths.first), is_first});
  finding.contexts.push_back({roles.second, std::move(paths.second), !is_first});
  if (pair.allocation != 0) finding.contexts.push_back({"allocated", frames_of(tree, pair.allocation)});
}

}  // namespace

WasteRoles roles_of(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return {"dead", "killing"};
    case WasteKind::SilentStore:
      return {"stored", "stored again"};
    case WasteKind::RedundantLoad:
      return {"loaded", "loaded again"};
  }
  return {};
}

std::string memory_waste_id(const CallTree& tree, const WastePair& pair) {
  const WastePaths paths = paths_of(tree, pair);
  std::string identity = fmt::format("{}\n{}\n{}\n", pair.name, pair.declared, pair.frame_ended);
  for (const auto& frames : {paths.first, paths.second})
    if (!frames.empty()) identity += identity_of({telling_frame(frames)});
  const std::string name = format_function(pair.kind == WasteKind::DeadStore ? paths.first : paths.second);
  return finding_id(finding_kind_of(pair.kind), pair.name.empty() ? name : pair.name, identity);
}

Finding memory_waste_finding(const CallTree& tree, const RunSummary& run, const WasteByLine& waste) {
  const WastePair& pair = *waste.main;
  const WasteShare share = share_of_waste(run, waste);
  const std::optional<double> cpu_s = cpu_time_at_waste(tree, pair);
  Finding finding;
  finding.id = memory_waste_id(tree, pair);
  finding.kind = finding_kind_of(pair.kind);
  finding.severity = severity_of(share.value, kMediumWaste, kHighWaste);
  finding.metric = wasted_metric(pair.kind);
  finding.cost = FindingCost{static_cast<double>(waste.bytes), "bytes", share_of_cpu(cpu_s.value_or(0), run),
                             run.memory_waste.is_exact ? "every access followed" : "sampled accesses"};
  if (cpu_s && *cpu_s > 0) finding.saving = at_most(*cpu_s, "CPU time in samples at the lines of both accesses");
  finding.sentence = fmt::format("{}: {} of {}: {}.", format_waste_kind(pair.kind), format_share(share),
                                 format_checked(share, pair.kind), format_waste(tree, pair));
  add_contexts(tree, pair, finding);
  finding.advice = memory_waste_advice(tree, pair);
  finding.values = {{"share", share.value},
                    {"share_low", share.low},
                    {"share_high", share.high},
                    {"count", static_cast<double>(waste.count)},
                    {"call_paths", static_cast<double>(waste.call_paths)}};
  return finding;
}

std::vector<Finding> memory_waste_findings(const CallTree& tree, const RunSummary& run) {
  std::vector<Finding> findings;
  for (const WasteByLine& waste : waste_by_line(tree, run))
    if (is_worth_a_finding(run, waste)) findings.push_back(memory_waste_finding(tree, run, waste));
  return findings;
}

}  // namespace prof
