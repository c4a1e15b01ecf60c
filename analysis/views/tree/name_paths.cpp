#include "analysis/views/tree/name_paths.h"

#include <map>
#include <string_view>
#include <utility>

#include "analysis/views/tree/own_costs.h"

namespace prof {

NamePaths name_paths(const CallTree& tree) {
  NamePaths result;
  std::vector<std::string> names;
  for (const Frame& frame : tree.frames) names.push_back(frame_name(*tree.database, frame));
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> known;
  std::vector<uint32_t> path_of_node;
  for (const CallNode& node : tree.nodes) {
    const uint32_t parent = node.parent == kNone ? kNone : path_of_node[node.parent];
    const auto [at, is_new] = known.try_emplace({parent, names[node.frame]}, result.paths.size());
    if (is_new) result.paths.push_back({parent, names[node.frame]});
    path_of_node.push_back(at->second);
  }
  for (const uint32_t node : tree.node_of) result.path_of.push_back(path_of_node[node]);
  return result;
}

std::vector<double> own_costs_of_paths(const CallTree& tree, const NamePaths& paths,
                                       const std::vector<uint32_t>& profiles) {
  const size_t width = tree.metrics();
  std::vector<double> sums(paths.paths.size() * width);
  OwnCostsByThread costs(tree, paths.path_of, paths.paths.size());
  for (const uint32_t profile : profiles) {
    const OwnCosts& own = costs.of(profile);
    for (size_t i = 0; i < own.nodes.size(); ++i)
      for (size_t m = 0; m < width; ++m) sums[own.nodes[i] * width + m] += own.values[i * width + m];
  }
  return sums;
}

std::vector<double> with_callees(const NamePaths& paths, std::vector<double> costs, size_t metrics) {
  for (size_t p = paths.paths.size(); p-- > 0;)
    if (const uint32_t parent = paths.paths[p].parent; parent != kNone)
      for (size_t m = 0; m < metrics; ++m) costs[parent * metrics + m] += costs[p * metrics + m];
  return costs;
}

}  // namespace prof
