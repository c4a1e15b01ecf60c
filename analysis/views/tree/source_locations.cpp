#include "analysis/views/tree/source_locations.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace prof {
namespace {

struct WeightedLine {
  uint32_t group;
  SourceLocation location;
  Cost cost;
};

auto key(const WeightedLine& line) {
  return std::tie(line.group, line.location.file, line.location.line);
}

bool is_heavier(const Cost& cost, const Cost& record, LineWeight weight) {
  return weight == LineWeight::Inclusive
             ? cost.inclusive > record.inclusive
             : std::tie(cost.exclusive, cost.inclusive) > std::tie(record.exclusive, record.inclusive);
}

// Sums up the costs at each line, and keeps the most expensive line of each group.
void keep_heaviest(std::vector<WeightedLine>& lines, LineWeight weight, std::vector<HeaviestLine>& best) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const WeightedLine& a, const WeightedLine& b) { return key(a) < key(b); });
  for (size_t i = 0; i < lines.size();) {
    Cost sum;
    size_t end = i;
    for (; end < lines.size() && key(lines[end]) == key(lines[i]); ++end) {
      sum.inclusive += lines[end].cost.inclusive;
      sum.exclusive += lines[end].cost.exclusive;
    }
    if (is_heavier(sum, best[lines[i].group].cost, weight)) best[lines[i].group] = {lines[i].location, sum};
    i = end;
  }
}

// A recursive call that was merged into its outermost frame did not create the frame.
bool makes_node(const CallTree& tree, uint32_t context) {
  const Context& c = tree.database->contexts[context];
  if (!starts_frame(c)) return false;
  return c.parent == kNone || tree.node_of[c.parent] == tree.nodes[tree.node_of[context]].parent;
}

// Returns the line in its caller from which a frame is called.
SourceLocation site_of(const CallTree& tree, uint32_t context) {
  const std::vector<Context>& contexts = tree.database->contexts;
  uint32_t from = contexts[context].parent;
  while (from != kNone && !location_of(contexts[from]).known() && !starts_frame(contexts[from]))
    from = contexts[from].parent;
  return from == kNone ? SourceLocation{} : location_of(contexts[from]);
}

double inclusive(const CallTree& tree, uint32_t context, size_t metric) {
  return tree.metrics() > 0 ? tree.by_context[metric][context].inclusive : 0;
}

}  // namespace

SourceLocation location_of(const Context& context) {
  const bool has_line = context.kind == ContextKind::Line && context.file != kNone && context.line != 0;
  return has_line ? SourceLocation{context.file, context.line} : SourceLocation{};
}

SourceLocation definition(const Frame& frame) {
  // HPCToolkit gives functions without line information a placeholder as their file, and no line.
  return frame.line > 0 ? SourceLocation{frame.file, frame.line} : SourceLocation{};
}

std::vector<HeaviestLine> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                         const std::vector<uint32_t>& frame_of_group, LineWeight weight,
                                         size_t metric) {
  std::vector<HeaviestLine> best(frame_of_group.size());
  std::vector<WeightedLine> lines;
  const std::vector<Context>& contexts = tree.database->contexts;
  for (uint32_t c = 0; c < contexts.size() && tree.metrics() > metric; ++c) {
    const uint32_t group = group_of_node[tree.node_of[c]];
    const SourceLocation location = location_of(contexts[c]);
    if (group == kNone || !location.known()) continue;
    const Cost& cost = tree.by_context[metric][c];
    if (cost.inclusive > 0) lines.push_back({group, location, cost});
  }
  keep_heaviest(lines, weight, best);
  for (size_t g = 0; g < best.size(); ++g)
    if (!best[g].location.known()) best[g].location = definition(tree.frames[frame_of_group[g]]);
  return best;
}

NodeContexts::NodeContexts(const CallTree& tree) : first_(tree.nodes.size() + 1, 0) {
  for (const uint32_t node : tree.node_of) ++first_[node + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  contexts_.resize(tree.node_of.size());
  for (uint32_t c = 0; c < tree.node_of.size(); ++c) contexts_[next[tree.node_of[c]]++] = c;
}

HeaviestLine heaviest_line(const CallTree& tree, const NodeContexts& contexts,
                           std::span<const uint32_t> nodes, uint32_t frame, LineWeight weight,
                           size_t metric) {
  std::vector<HeaviestLine> best(1);
  std::vector<WeightedLine> lines;
  for (const uint32_t node : nodes) {
    for (const uint32_t c : contexts.of(node)) {
      const SourceLocation location = location_of(tree.database->contexts[c]);
      if (!location.known() || inclusive(tree, c, metric) <= 0) continue;
      lines.push_back({0, location, tree.by_context[metric][c]});
    }
  }
  keep_heaviest(lines, weight, best);
  if (!best[0].location.known()) best[0].location = definition(tree.frames[frame]);
  return best[0];
}

std::vector<double> inclusive_at(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                 const std::vector<SourceLocation>& location_of_group) {
  std::vector<double> sums(location_of_group.size(), 0);
  const std::vector<Context>& contexts = tree.database->contexts;
  for (uint32_t c = 0; c < contexts.size() && tree.metrics() > 0; ++c) {
    const uint32_t group = group_of_node[tree.node_of[c]];
    const SourceLocation location = location_of(contexts[c]);
    if (group != kNone && location.known() && location == location_of_group[group])
      sums[group] += tree.by_context[0][c].inclusive;
  }
  return sums;
}

std::vector<SourceLocation> call_sites(const CallTree& tree, size_t metric) {
  std::vector<SourceLocation> sites(tree.nodes.size());
  std::vector<double> heaviest(tree.nodes.size(), -1);
  for (uint32_t c = 0; c < tree.node_of.size(); ++c) {
    const uint32_t node = tree.node_of[c];
    const double weight = inclusive(tree, c, metric);
    if (weight <= heaviest[node] || !makes_node(tree, c)) continue;
    heaviest[node] = weight;
    sites[node] = site_of(tree, c);
  }
  return sites;
}

SourceLocation call_site(const CallTree& tree, const NodeContexts& contexts, uint32_t node, size_t metric) {
  uint32_t heaviest = kNone;
  for (const uint32_t c : contexts.of(node)) {
    if (!makes_node(tree, c)) continue;
    if (heaviest == kNone || inclusive(tree, c, metric) > inclusive(tree, heaviest, metric)) heaviest = c;
  }
  return heaviest == kNone ? SourceLocation{} : site_of(tree, heaviest);
}

}  // namespace prof
