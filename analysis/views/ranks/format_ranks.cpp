#include "analysis/views/ranks/format_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/stalls/barriers.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

size_t nodes_of(const RankReport& report) {
  std::set<std::string> nodes;
  for (const RankCost& rank : report.costs.ranks) nodes.insert(rank.node);
  return nodes.size();
}

// Returns "step (sim.cpp:12)" for a function on the call path.
std::string function_of(const CallTree& tree, const RankLocation& location, uint32_t function) {
  if (function == kNone || location.context == kNone) return format_code({});
  const std::string& name = tree.database->functions[function].name;
  for (const CodeFrame& frame : frames_of(tree, location.context))
    if (frame.function == name) return format_code({frame});
  return format_code({});
}

}  // namespace

std::string format_ranks_of(const RankReport& report, const std::vector<uint32_t>& ranks,
                            const std::string& node) {
  std::vector<int32_t> numbers;
  for (const uint32_t rank : ranks) numbers.push_back(report.costs.ranks[rank].rank);
  const std::string text = (numbers.size() == 1 ? "rank " : "ranks ") + format_ranks(numbers);
  if (!node.empty()) return fmt::format("node {} ({})", node, text);
  const std::string& host = report.costs.ranks[ranks.front()].node;
  if (ranks.size() == 1 && !host.empty() && nodes_of(report) > 1)
    return fmt::format("{} (node {})", text, host);
  return text;
}

std::string format_ranks_and_nodes(const RankReport& report) {
  return fmt::format("{} on {}", format_count(report.costs.ranks.size(), "rank"),
                     format_count(nodes_of(report), "node"));
}

std::string format_rank_location(const CallTree& tree, const RankLocation& location) {
  const std::string code = function_of(tree, location, location.function);
  if (location.call != kNone) {
    const std::string call = public_name(tree.database->functions[location.call].name);
    return location.call == location.function ? call : fmt::format("{}, called by {}", call, code);
  }
  // Skips main(), which calls everything.
  if (location.caller == kNone || tree.database->functions[location.caller].name == "main") return code;
  return fmt::format("{}, called by {}", code, function_of(tree, location, location.caller));
}

std::string format_lack_of_processors(const RankReport& report) {
  return fmt::format(
      "ranks had a processor for only {} of the time, so unexplained waiting is not blamed on any rank; "
      "start no more ranks and threads than processors",
      format_percent(*report.had_processor));
}

std::string format_statistics(const RankStatistics& statistics) {
  return fmt::format("{} on average, {} to {}, deviation {}, imbalance {}", format_duration(statistics.mean),
                     format_duration(statistics.minimum), format_duration(statistics.maximum),
                     format_duration(statistics.stddev), format_percent(statistics.imbalance()));
}

}  // namespace prof
