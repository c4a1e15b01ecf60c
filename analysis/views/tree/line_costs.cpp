#include "analysis/views/tree/line_costs.h"

#include <algorithm>
#include <map>

#include "analysis/views/tree/source_locations.h"

namespace prof {

namespace {

bool is_inside_its_line(const Database& database, uint32_t context) {
  const SourceLocation location = location_of(database.contexts[context]);
  for (uint32_t at = database.contexts[context].parent; at != kNone; at = database.contexts[at].parent)
    if (location_of(database.contexts[at]) == location) return true;
  return false;
}

}  // namespace

std::vector<LineCost> line_costs(const CallTree& tree, uint32_t file, size_t metric) {
  const Database& database = *tree.database;
  std::map<uint32_t, Cost> lines;
  for (uint32_t c = 0; c < database.contexts.size(); ++c) {
    const SourceLocation location = location_of(database.contexts[c]);
    if (!location.known() || location.file != file) continue;
    const Cost& cost = tree.by_context[metric][c];
    if (cost.inclusive == 0 && cost.exclusive == 0) continue;
    Cost& line = lines[location.line];
    line.exclusive += cost.exclusive;
    if (!is_inside_its_line(database, c)) line.inclusive += cost.inclusive;
  }
  std::vector<LineCost> result;
  for (const auto& [line, cost] : lines) result.push_back({line, cost});
  return result;
}

std::vector<FileCost> file_costs(const CallTree& tree, size_t metric) {
  const Database& database = *tree.database;
  std::vector<double> exclusive(database.files.size(), 0);
  std::vector<bool> is_there(database.files.size(), false);
  for (uint32_t c = 0; c < database.contexts.size(); ++c) {
    const SourceLocation location = location_of(database.contexts[c]);
    if (!location.known()) continue;
    const Cost& cost = tree.by_context[metric][c];
    exclusive[location.file] += cost.exclusive;
    if (cost.inclusive > 0) is_there[location.file] = true;
  }
  std::vector<FileCost> result;
  for (uint32_t f = 0; f < exclusive.size(); ++f)
    if (is_there[f]) result.push_back({f, exclusive[f]});
  std::stable_sort(result.begin(), result.end(),
                   [](const FileCost& a, const FileCost& b) { return a.exclusive > b.exclusive; });
  return result;
}

}  // namespace prof
