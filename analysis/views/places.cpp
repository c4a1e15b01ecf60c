#include "analysis/views/places.h"

#include <algorithm>
#include <tuple>

namespace prof {
namespace {

struct WeightedLine {
  uint32_t group;
  Place place;
  Cost cost;
};

auto key(const WeightedLine& line) {
  return std::tie(line.group, line.place.file, line.place.line);
}

}  // namespace

Place place_of(const Context& context) {
  const bool has_line = context.kind == ContextKind::Line && context.file != kNone && context.line != 0;
  return has_line ? Place{context.file, context.line} : Place{};
}

Place definition(const Frame& frame) {
  // HPCToolkit gives functions without line information a placeholder for a file, and no line.
  return frame.line > 0 ? Place{frame.file, frame.line} : Place{};
}

std::vector<HeaviestLine> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                         const std::vector<uint32_t>& frame_of_group, LineWeight weight) {
  std::vector<HeaviestLine> best(frame_of_group.size());
  std::vector<WeightedLine> lines;
  const std::vector<Context>& contexts = tree.database->contexts;
  for (uint32_t c = 0; c < contexts.size() && tree.metrics() > 0; ++c) {
    const uint32_t group = group_of_node[tree.node_of[c]];
    const Place place = place_of(contexts[c]);
    if (group == kNone || !place.known()) continue;
    const Cost& cost = tree.by_context[c * tree.metrics()];
    if (cost.inclusive > 0) lines.push_back({group, place, cost});
  }
  std::sort(lines.begin(), lines.end(),
            [](const WeightedLine& a, const WeightedLine& b) { return key(a) < key(b); });

  for (size_t i = 0; i < lines.size();) {
    Cost sum;
    size_t end = i;
    for (; end < lines.size() && key(lines[end]) == key(lines[i]); ++end) {
      sum.inclusive += lines[end].cost.inclusive;
      sum.exclusive += lines[end].cost.exclusive;
    }
    const Cost& record = best[lines[i].group].cost;
    const bool heavier = weight == LineWeight::Inclusive ? sum.inclusive > record.inclusive
                                                         : std::tie(sum.exclusive, sum.inclusive) >
                                                               std::tie(record.exclusive, record.inclusive);
    if (heavier) best[lines[i].group] = {lines[i].place, sum};
    i = end;
  }
  for (size_t g = 0; g < best.size(); ++g)
    if (!best[g].place.known()) best[g].place = definition(tree.frames[frame_of_group[g]]);
  return best;
}

std::vector<double> inclusive_at(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                 const std::vector<Place>& place_of_group) {
  std::vector<double> sums(place_of_group.size(), 0);
  const std::vector<Context>& contexts = tree.database->contexts;
  for (uint32_t c = 0; c < contexts.size() && tree.metrics() > 0; ++c) {
    const uint32_t group = group_of_node[tree.node_of[c]];
    const Place place = place_of(contexts[c]);
    if (group != kNone && place.known() && place == place_of_group[group])
      sums[group] += tree.by_context[c * tree.metrics()].inclusive;
  }
  return sums;
}

std::vector<Place> call_sites(const CallTree& tree) {
  const std::vector<Context>& contexts = tree.database->contexts;
  std::vector<Place> sites(tree.nodes.size());
  std::vector<double> heaviest(tree.nodes.size(), -1);
  for (uint32_t c = 0; c < contexts.size(); ++c) {
    if (!starts_frame(contexts[c])) continue;
    const double weight = tree.metrics() > 0 ? tree.by_context[c * tree.metrics()].inclusive : 0;
    const uint32_t node = tree.node_of[c];
    if (weight <= heaviest[node]) continue;
    // A recursive call that was merged into its outermost frame is not the call that made the frame.
    if (contexts[c].parent != kNone && tree.node_of[contexts[c].parent] != tree.nodes[node].parent) continue;
    uint32_t from = contexts[c].parent;
    while (from != kNone && !place_of(contexts[from]).known() && !starts_frame(contexts[from]))
      from = contexts[from].parent;
    heaviest[node] = weight;
    sites[node] = from == kNone ? Place{} : place_of(contexts[from]);
  }
  return sites;
}

}  // namespace prof
