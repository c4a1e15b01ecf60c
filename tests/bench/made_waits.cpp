#include "tests/bench/made_waits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include "analysis/attribution/attribution.h"
#include "hpcrun/unwind/frame.h"
#include "tests/measurement/recorder.h"

namespace prof::test {
namespace {

constexpr uint32_t kGroups = 8;  // that are late in turn
constexpr double kLate = 2;      // times the work of the other ranks
constexpr double kJitter = 0.02;

// Returns the MPI function of each frame that belongs to one.
std::map<uint64_t, std::string> calls_of_mpi(const ProcessMeasurement& measured,
                                             const std::vector<MeasuredNode>& nodes) {
  std::map<uint16_t, std::set<uint64_t>> offsets;
  for (size_t i = 1; i < nodes.size(); ++i)
    offsets[hpcrun::frame_module(nodes[i].frame)].insert(hpcrun::frame_offset(nodes[i].frame));
  std::map<uint64_t, std::string> calls;
  for (const MeasuredModule& module : measured.modules) {
    const std::vector<uint64_t> addresses(offsets[module.id].begin(), offsets[module.id].end());
    if (addresses.empty()) continue;
    const AttributedModule attributed = attribute_module({module.path, module.build_id}, addresses);
    for (size_t i = 0; i < addresses.size(); ++i)
      for (const AttributedFrame& frame : attributed.chain(i)) {
        const std::string& name = attributed.functions[frame.function].name;
        if (name.starts_with("MPI_") || name.starts_with("PMPI_"))
          calls[hpcrun::make_frame(module.id, addresses[i])] = name.substr(name.find("MPI_"));
      }
  }
  return calls;
}

}  // namespace

std::vector<Part> parts_of(const ProcessMeasurement& measured, const std::vector<MeasuredNode>& nodes) {
  const std::map<uint64_t, std::string> calls = calls_of_mpi(measured, nodes);
  uint16_t own = hpcrun::kModuleNone;
  for (const MeasuredModule& module : measured.modules)
    if (module.path == measured.process.executable) own = module.id;
  std::vector<Part> parts(nodes.size(), Part::Neither);
  std::vector<bool> in_mpi(nodes.size(), false);
  for (size_t i = 1; i < nodes.size(); ++i) {
    const auto call = calls.find(nodes[i].frame);
    in_mpi[i] = in_mpi[nodes[i].parent] || call != calls.end();
    if (in_mpi[nodes[i].parent])
      parts[i] = parts[nodes[i].parent];
    else if (call != calls.end())
      parts[i] = call->second.starts_with("MPI_Init") || call->second.starts_with("MPI_Finalize")
                     ? Part::Neither
                     : Part::Wait;
    else if (hpcrun::frame_module(nodes[i].frame) == own)
      parts[i] = Part::Compute;
  }
  return parts;
}

Steps::Steps(const std::vector<double>& slowness, uint64_t seed, double all_ns, uint32_t steps)
    : slowness_(slowness), seed_(seed), longest_(steps, 0) {
  for (uint32_t step = 0; step < steps; ++step)
    for (uint32_t rank = 0; rank < slowness_.size(); ++rank)
      longest_[step] = std::max(longest_[step], work(rank, step));
  unit_ns_ = all_ns / std::accumulate(longest_.begin(), longest_.end(), 0.0);
}

double Steps::work(uint32_t rank, uint32_t step) const {
  Random random(seed_ + uint64_t{rank} * 100'003 + step);
  random.next();
  const double jitter = kJitter * static_cast<double>(random.below(1'000)) * 1e-3;
  const bool is_late = step >= longest_.size() / 2 && rank % kGroups == step % kGroups;
  return slowness_[rank] * (1 + jitter) * (is_late ? kLate : 1);
}

std::vector<Steps::Step> Steps::of_rank(uint32_t rank) const {
  std::vector<Step> steps;
  for (uint32_t step = 0; step < longest_.size(); ++step) {
    const double own = work(rank, step);
    steps.push_back({own * unit_ns_, (longest_[step] - own) * unit_ns_});
  }
  return steps;
}

}  // namespace prof::test
