#include "analysis/views/run/memory_waste.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/views/tree/source_locations.h"

namespace prof {
namespace {

using hpcrun::WasteKind;

// The function and line of the program that an access belongs to.
using Place = std::tuple<std::string, std::string, uint32_t>;

Place place_of(const std::vector<CodeFrame>& frames) {
  if (frames.empty()) return {};
  const CodeFrame& frame = telling_frame(frames);
  return {frame.function, frame.file, frame.line};
}

std::string data_of(const CallTree& tree, const WastePair& pair) {
  if (!pair.name.empty()) return pair.name + "\n" + pair.declared;
  if (pair.allocation == 0) return pair.on_stack ? "stack" : "";
  const auto [function, file, line] = place_of(frames_of(tree, pair.allocation));
  return function + "\n" + file + "\n" + std::to_string(line);
}

std::optional<size_t> cpu_time_of(const CallTree& tree) {
  for (size_t m = 0; m < tree.metrics(); ++m)
    if (tree.metric(m).name == "CPUTIME") return m;
  return std::nullopt;
}

uint32_t frame_at(const CallTree& tree, uint32_t context) {
  return tree.nodes[tree.node_of[context]].frame;
}

}  // namespace

std::optional<std::string> reason_no_memory_waste(const RunSummary& run) {
  if (run.memory_waste.was_searched) return std::nullopt;
  return "wasted stores and loads were not measured in this run; measure with prof run -e memory-waste, or "
         "with prof exact --dead-stores";
}

WasteShare waste_share(const MemoryWasteRecord& record, const WasteTotal& total, uint64_t bytes) {
  WasteShare share;
  share.is_estimate = !record.is_exact;
  if (total.checked_bytes > 0)
    share.value = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total.checked_bytes));
  share.low = share.high = share.value;
  if (record.is_exact) return share;
  constexpr double kZ = 1.6449;  // of 90 %
  const auto n = static_cast<double>(total.checked_count);
  if (n == 0) {
    share.high = 1;
    return share;
  }
  const double middle = share.value + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(share.value * (1 - share.value) / n + kZ * kZ / (4 * n * n));
  share.low = std::max(0.0, (middle - half) / (1 + kZ * kZ / n));
  share.high = std::min(1.0, (middle + half) / (1 + kZ * kZ / n));
  return share;
}

const WasteTotal* total_of(const MemoryWasteRecord& record, WasteKind kind) {
  const auto found = std::ranges::find(record.totals, kind, &WasteTotal::kind);
  return found == record.totals.end() ? nullptr : &*found;
}

WastePaths paths_of(const CallTree& tree, const WastePair& pair) {
  return {frames_of(tree, pair.first), frames_of(tree, pair.second)};
}

bool is_one_line(const WastePaths& paths) {
  return place_of(paths.first) == place_of(paths.second);
}

uint32_t wasted_context(const WastePair& pair) {
  return pair.kind == WasteKind::DeadStore ? pair.first : pair.second;
}

std::vector<WasteByLine> waste_by_line(const CallTree& tree, const RunSummary& run) {
  std::map<std::tuple<WasteKind, bool, Place, Place, std::string>, WasteByLine> by_line;
  std::map<uint32_t, Place> places;
  const auto place_at = [&](uint32_t context) -> const Place& {
    const auto [at, is_new] = places.try_emplace(context);
    if (is_new) at->second = place_of(frames_of(tree, context));
    return at->second;
  };
  for (const WastePair& pair : run.memory_waste.pairs) {
    WasteByLine& sum = by_line[{pair.kind, pair.frame_ended, place_at(pair.first), place_at(pair.second),
                                data_of(tree, pair)}];
    if (!sum.main || pair.bytes > sum.main->bytes) sum.main = &pair;
    ++sum.call_paths;
    sum.count += pair.count;
    sum.bytes += pair.bytes;
  }
  std::vector<WasteByLine> all;
  for (const auto& [key, sum] : by_line) all.push_back(sum);
  const auto share = [&](const WasteByLine& waste) {
    const WasteTotal* const total = total_of(run.memory_waste, waste.main->kind);
    return total ? waste_share(run.memory_waste, *total, waste.bytes).value : 0.0;
  };
  std::ranges::stable_sort(all, std::greater(), share);
  return all;
}

std::optional<double> cpu_time_at_waste(const CallTree& tree, const WastePair& pair) {
  const std::optional<size_t> metric = cpu_time_of(tree);
  if (!metric) return std::nullopt;
  const std::vector<Context>& contexts = tree.database->contexts;
  const auto is_line_of = [&](uint32_t access, uint32_t context) {
    return location_of(contexts[context]) == location_of(contexts[access]) &&
           frame_at(tree, context) == frame_at(tree, access);
  };
  double seconds = 0;
  for (uint32_t c = 0; c < contexts.size(); ++c)
    if (is_line_of(pair.first, c) || is_line_of(pair.second, c))
      seconds += tree.by_context[*metric][c].exclusive;
  return seconds;
}

}  // namespace prof
