#include "analysis/views/tree/hot_path.h"

#include <algorithm>

#include "analysis/views/tree/view.h"

namespace prof {
namespace {

constexpr double kDominating = 0.5;      // of the previous step's cost; no other child is then as expensive
constexpr double kMinOfTotal = 0.1;      // of the total: smaller costs do not explain the program's
constexpr double kShareRounding = 1e-9;  // two halves add up to the cost only nearly

// Returns the chain of callers that dominates the exclusive cost of some instances of one function.
std::vector<PathStep> dominating_callers(const CallTree& tree, const std::vector<SourceLocation>& sites,
                                         const uint32_t* begin, const uint32_t* end, size_t metric) {
  struct Walk {
    uint32_t caller_frame, node, below;
    double cost;
  };
  double all = 0;
  std::vector<Walk> walks;
  for (const uint32_t* node = begin; node != end; ++node) {
    const double cost = tree.cost(*node, metric).exclusive;
    if (cost > 0) walks.push_back({0, *node, *node, cost});
    all += cost;
  }
  std::vector<PathStep> callers;
  while (true) {
    std::erase_if(walks, [&](Walk& walk) {
      walk.below = walk.node;
      walk.node = tree.nodes[walk.node].parent;
      if (walk.node == kNone) return true;
      walk.caller_frame = tree.nodes[walk.node].frame;
      return tree.frames[walk.caller_frame].kind == FrameKind::Entry;
    });
    std::stable_sort(walks.begin(), walks.end(),
                     [](const Walk& a, const Walk& b) { return a.caller_frame < b.caller_frame; });
    double heaviest = 0;
    size_t from = 0, to = 0;
    for (size_t i = 0, next; i < walks.size(); i = next) {
      double sum = 0;
      for (next = i; next < walks.size() && walks[next].caller_frame == walks[i].caller_frame; ++next)
        sum += walks[next].cost;
      if (sum > heaviest) {
        heaviest = sum;
        from = i;
        to = next;
      }
    }
    if (heaviest <= 0 || heaviest < all * kDominating * (1 - kShareRounding)) return callers;
    const auto first = walks.begin() + static_cast<ptrdiff_t>(from),
               last = walks.begin() + static_cast<ptrdiff_t>(to);
    const auto widest =
        std::max_element(first, last, [](const Walk& a, const Walk& b) { return a.cost < b.cost; });
    const SourceLocation site = sites[widest->below];
    callers.push_back({widest->caller_frame, heaviest,
                       site.known() ? site : definition(tree.frames[widest->caller_frame])});
    walks = std::vector<Walk>(first, last);
  }
}

// Returns 1 if the line has no cost: it then only says where the function is defined.
double part(double at_line, double whole) {
  return at_line > 0 ? std::min(at_line / whole, 1.0) : 1.0;
}

void add_shares(const CallTree& tree, const std::vector<uint32_t>& step_of_node,
                std::vector<PathStep>& path) {
  std::vector<SourceLocation> locations;
  for (const PathStep& step : path) locations.push_back(step.location);
  const std::vector<double> at_location = inclusive_at(tree, step_of_node, locations);
  for (size_t i = 0; i < path.size(); ++i)
    path[i].share_at_location = part(at_location[i], path[i].inclusive);
}

}  // namespace

bool continues_hot_path(const CallTree& tree, double parent, double child, size_t metric) {
  const double least = std::max(parent * kDominating, tree.totals[metric] * kMinOfTotal);
  return child > 0 && child >= least * (1 - kShareRounding);
}

std::vector<PathStep> hot_path(const CallTree& tree) {
  std::vector<PathStep> path;
  if (tree.nodes.empty() || tree.metrics() == 0 || tree.totals[0] <= 0) return path;
  const std::vector<SourceLocation> sites = call_sites(tree);
  std::vector<uint32_t> step_of_node(tree.nodes.size(), kNone);
  uint32_t node = 0;  // siblings are sorted: the first root is the most expensive, and the first child, too
  while (true) {
    path.push_back({tree.nodes[node].frame, tree.cost(node, 0).inclusive, {}});
    step_of_node[node] = static_cast<uint32_t>(path.size() - 1);
    const uint32_t child = node + 1;
    if (child >= tree.nodes[node].end) break;
    if (!continues_hot_path(tree, tree.cost(node, 0).inclusive, tree.cost(child, 0).inclusive, 0)) break;
    path.back().location = sites[child].known() ? sites[child] : definition(tree.frames[path.back().frame]);
    node = child;
  }
  std::vector<uint32_t> only_last(tree.nodes.size(), kNone);
  only_last[node] = 0;
  path.back().location =
      heaviest_lines(tree, only_last, {tree.nodes[node].frame}, LineWeight::Exclusive)[0].location;
  add_shares(tree, step_of_node, path);
  return path;
}

std::vector<PathStep> callers_of(const CallTree& tree, uint32_t context) {
  const std::vector<Context>& contexts = tree.database->contexts;
  const double cost = tree.by_context[0][context].inclusive;
  const auto frame_of = [&](uint32_t c) { return tree.nodes[tree.node_of[c]].frame; };
  std::vector<PathStep> callers;
  uint32_t at = context;
  while (at != kNone && !starts_frame(contexts[at])) at = contexts[at].parent;
  while (at != kNone && contexts[at].parent != kNone) {
    at = contexts[at].parent;
    const uint32_t frame = frame_of(at);
    if (tree.frames[frame].kind == FrameKind::Entry) break;
    SourceLocation site;
    for (; !starts_frame(contexts[at]); at = contexts[at].parent)
      if (!site.known()) site = location_of(contexts[at]);
    callers.push_back({frame, cost, site.known() ? site : definition(tree.frames[frame])});
  }
  return callers;
}

std::vector<HotFunction> hot_functions(const CallTree& tree, size_t limit, size_t metric) {
  std::vector<HotFunction> hot;
  if (tree.metrics() <= metric) return hot;
  std::vector<double> exclusive(tree.frames.size(), 0);
  for (uint32_t n = 0; n < tree.nodes.size(); ++n)
    exclusive[tree.nodes[n].frame] += tree.cost(n, metric).exclusive;
  std::vector<uint32_t> order;
  for (uint32_t f = 0; f < tree.frames.size(); ++f)
    if (exclusive[f] > 0) order.push_back(f);
  const size_t shown = std::min(limit, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                    [&](uint32_t a, uint32_t b) {
                      return exclusive[a] != exclusive[b] ? exclusive[a] > exclusive[b] : a < b;
                    });
  order.resize(shown);

  const FrameInstances all = instances_of_frames(tree);
  const std::vector<SourceLocation> sites = call_sites(tree, metric);
  std::vector<uint32_t> group_of_node(tree.nodes.size(), kNone);
  for (uint32_t i = 0; i < shown; ++i)
    for (uint32_t n = all.first[order[i]]; n < all.first[order[i] + 1]; ++n) group_of_node[all.nodes[n]] = i;
  const std::vector<HeaviestLine> lines =
      heaviest_lines(tree, group_of_node, order, LineWeight::Exclusive, metric);
  for (uint32_t i = 0; i < shown; ++i) {
    const uint32_t *begin = all.nodes.data() + all.first[order[i]],
                   *end = all.nodes.data() + all.first[order[i] + 1];
    hot.push_back({order[i], sum_instances(tree, mark_outermost(tree, begin, end), metric), lines[i].location,
                   part(lines[i].cost.exclusive, exclusive[order[i]]),
                   dominating_callers(tree, sites, begin, end, metric)});
  }
  return hot;
}

}  // namespace prof
