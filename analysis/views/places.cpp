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

bool has_place(const Context& context) {
  return context.kind == ContextKind::Line && context.file != kNone && context.line != 0;
}

auto key(const WeightedLine& line) {
  return std::tie(line.group, line.place.file, line.place.line);
}

}  // namespace

Place definition(const Frame& frame) {
  // HPCToolkit gives functions without line information a placeholder for a file, and no line.
  return frame.line > 0 ? Place{frame.file, frame.line} : Place{};
}

std::vector<Place> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                  const std::vector<uint32_t>& frame_of_group, LineWeight weight) {
  std::vector<Place> best(frame_of_group.size());
  std::vector<WeightedLine> lines;
  const std::vector<Context>& contexts = tree.database->contexts;
  for (uint32_t c = 0; c < contexts.size() && tree.metrics() > 0; ++c) {
    const uint32_t group = group_of_node[tree.node_of[c]];
    if (group == kNone || !has_place(contexts[c])) continue;
    const Cost& cost = tree.by_context[c * tree.metrics()];
    if (cost.inclusive > 0) lines.push_back({group, {contexts[c].file, contexts[c].line}, cost});
  }
  std::sort(lines.begin(), lines.end(),
            [](const WeightedLine& a, const WeightedLine& b) { return key(a) < key(b); });

  std::vector<Cost> heaviest(best.size());
  for (size_t i = 0; i < lines.size();) {
    Cost sum;
    size_t end = i;
    for (; end < lines.size() && key(lines[end]) == key(lines[i]); ++end) {
      sum.inclusive += lines[end].cost.inclusive;
      sum.exclusive += lines[end].cost.exclusive;
    }
    Cost& record = heaviest[lines[i].group];
    const bool heavier = weight == LineWeight::Inclusive ? sum.inclusive > record.inclusive
                                                         : std::tie(sum.exclusive, sum.inclusive) >
                                                               std::tie(record.exclusive, record.inclusive);
    if (heavier) {
      record = sum;
      best[lines[i].group] = lines[i].place;
    }
    i = end;
  }
  for (size_t g = 0; g < best.size(); ++g)
    if (!best[g].known()) best[g] = definition(tree.frames[frame_of_group[g]]);
  return best;
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
    while (from != kNone && !has_place(contexts[from]) && !starts_frame(contexts[from]))
      from = contexts[from].parent;
    heaviest[node] = weight;
    sites[node] = from != kNone && has_place(contexts[from]) ? Place{contexts[from].file, contexts[from].line}
                                                             : Place{};
  }
  return sites;
}

}  // namespace prof
