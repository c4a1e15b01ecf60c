#include "analysis/views/tree/callers.h"

#include <algorithm>

namespace prof {

CallerChain chain_without_callers(const FrameInstances& instances, uint32_t frame) {
  CallerChain chain;
  chain.functions.assign(instances.nodes.begin() + instances.first[frame],
                         instances.nodes.begin() + instances.first[frame + 1]);
  chain.callers = chain.functions;
  return chain;
}

std::vector<CallerChain> with_callers(const CallTree& tree, const CallerChain& chain) {
  struct Call {
    uint32_t frame, inlined, at;
  };
  std::vector<Call> calls;
  for (uint32_t i = 0; i < chain.callers.size(); ++i) {
    const uint32_t caller = tree.nodes[chain.callers[i]].parent;
    if (caller == kNone || tree.frames[tree.nodes[caller].frame].kind == FrameKind::Entry) continue;
    calls.push_back({tree.nodes[caller].frame, tree.nodes[caller].inlined, i});
  }
  const auto key = [](const Call& call) { return std::pair(call.frame, call.inlined); };
  std::stable_sort(calls.begin(), calls.end(), [&](const Call& a, const Call& b) { return key(a) < key(b); });
  std::vector<CallerChain> result;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == 0 || key(calls[i]) != key(calls[i - 1])) result.emplace_back();
    const uint32_t below = chain.callers[calls[i].at];
    result.back().functions.push_back(chain.functions[calls[i].at]);
    result.back().callers.push_back(tree.nodes[below].parent);
    result.back().below.push_back(below);
  }
  return result;
}

bool is_inlined(const CallTree& tree, const CallerChain& chain) {
  return std::all_of(chain.callers.begin(), chain.callers.end(),
                     [&](uint32_t caller) { return tree.nodes[caller].inlined; });
}

SourceLocation heaviest_site(const CallTree& tree, const CallerChain& chain, size_t metric,
                             const std::function<SourceLocation(uint32_t)>& site) {
  std::vector<std::pair<SourceLocation, double>> sites;
  for (size_t i = 0; i < chain.below.size(); ++i)
    if (const SourceLocation location = site(chain.below[i]); location.known())
      sites.emplace_back(location, tree.cost(chain.functions[i], metric).exclusive);
  std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.file, a.first.line) < std::pair(b.first.file, b.first.line);
  });
  SourceLocation best;
  double heaviest = -1, sum = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    sum = i > 0 && sites[i].first == sites[i - 1].first ? sum + sites[i].second : sites[i].second;
    if (sum > heaviest) {
      heaviest = sum;
      best = sites[i].first;
    }
  }
  return best.known() ? best : definition(tree.frames[tree.nodes[chain.callers.front()].frame]);
}

}  // namespace prof
