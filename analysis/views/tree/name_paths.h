#pragma once
// Call paths by the names of functions alone, for tools that need nothing else: functions with the same name
// and the same caller are one path.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

struct NamePath {
  uint32_t parent = kNone;  // comes before its children
  std::string name;
};

struct NamePaths {
  std::vector<NamePath> paths;
  std::vector<uint32_t> path_of;  // per context of the database
};

NamePaths name_paths(const CallTree& tree);

// The exclusive cost of each path in some threads (indices into Database::profiles): [path * metrics + m].
std::vector<double> own_costs_of_paths(const CallTree& tree, const NamePaths& paths,
                                       const std::vector<uint32_t>& profiles);

// The inclusive cost of each path.
std::vector<double> with_callees(const NamePaths& paths, std::vector<double> costs, size_t metrics);

}  // namespace prof
