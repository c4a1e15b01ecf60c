#include "analysis/disassembly/machine_function.h"

#include <algorithm>
#include <map>

#include "analysis/views/tree/source_locations.h"

namespace prof {
namespace {

// Returns the function that a context's code was compiled into; kNone if unknown.
uint32_t compiled_function(const Database& database, uint32_t context) {
  for (uint32_t at = context; at != kNone; at = database.contexts[at].parent) {
    const Context& here = database.contexts[at];
    if (here.kind == ContextKind::Entry) break;
    if (here.kind == ContextKind::Function && here.relation != Relation::InlinedCall) return here.function;
    if (here.kind != ContextKind::Function && here.relation == Relation::Call) break;
  }
  return kNone;
}

class Heaviest {
 public:
  Heaviest(const CallTree& tree, size_t metric) : tree_(tree), metric_(metric) {}

  void add(uint32_t context) {
    const uint32_t function = compiled_function(*tree_.database, context);
    if (function == kNone || function >= tree_.database->functions.size()) return;
    const Cost& cost = tree_.by_context[metric_][context];
    Cost& sum = costs_[function];
    sum.exclusive += cost.exclusive;
    sum.inclusive += cost.inclusive;
  }

  CodeLocation location() const {
    const auto is_less = [](const auto& a, const auto& b) {
      return std::pair(a.second.exclusive, a.second.inclusive) <
             std::pair(b.second.exclusive, b.second.inclusive);
    };
    const auto most = std::max_element(costs_.begin(), costs_.end(), is_less);
    if (most == costs_.end()) return {};
    const Function& function = tree_.database->functions[most->first];
    return {function.module, function.offset};
  }

 private:
  const CallTree& tree_;
  size_t metric_;
  std::map<uint32_t, Cost> costs_;
};

}  // namespace

CodeLocation code_of_line(const CallTree& tree, uint32_t file, uint32_t line, size_t metric) {
  Heaviest heaviest(tree, metric);
  const Database& database = *tree.database;
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (location_of(database.contexts[c]) == SourceLocation{file, line}) heaviest.add(c);
  return heaviest.location();
}

CodeLocation code_of_frame(const CallTree& tree, uint32_t frame, size_t metric) {
  const Frame& wanted = tree.frames[frame];
  if (wanted.kind != FrameKind::Function) return {wanted.module, wanted.offset};
  Heaviest heaviest(tree, metric);
  const Database& database = *tree.database;
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (database.contexts[c].kind == ContextKind::Function && database.contexts[c].function == wanted.index)
      heaviest.add(c);
  return heaviest.location();
}

}  // namespace prof
