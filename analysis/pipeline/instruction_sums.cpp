#include "analysis/pipeline/instruction_sums.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace prof {

void InstructionSums::add(const MeasuredThread& thread, const std::vector<MetricColumn>& columns,
                          const std::vector<PlaceId>& place_of) {
  for (const MeasuredCell& cell : thread.cells) {
    if (cell.node == 0 || cell.value == 0) continue;
    const auto column = std::ranges::find(columns, cell.metric, &MetricColumn::id);
    if (column == columns.end()) continue;
    sums_[{place_of[cell.node - 1], column->metric, column->scale}] += cell.value;
  }
}

void InstructionSums::add(const InstructionSums& other) {
  for (const auto& [key, sum] : other.sums_) sums_[key] += sum;
}

void InstructionSums::give(Packer& out) const {
  std::vector<Entry> entries;
  for (const auto& [key, sum] : sums_) entries.push_back({key, sum});
  out(entries);
}

void InstructionSums::take(Unpacker& in, size_t places, size_t metrics) {
  for (const Entry& entry : in.get<std::vector<Entry>>()) {
    Unpacker::require(entry.key.place < places && entry.key.metric < metrics, "it is of other instructions");
    sums_[entry.key] += entry.sum;
  }
}

std::vector<InstructionCost> InstructionSums::costs(const Places& places) const {
  std::vector<std::pair<Key, uint64_t>> sums(sums_.begin(), sums_.end());
  std::ranges::sort(sums);
  std::vector<InstructionCost> costs;
  for (const auto& [key, sum] : sums) {
    const auto code = places.code_at(key.place);
    if (!code) continue;
    const double value = static_cast<double>(sum) * key.scale;
    InstructionCost* const last = costs.empty() ? nullptr : &costs.back();
    if (last && std::tie(last->module, last->offset, last->metric) ==
                    std::tie(code->module, code->offset, key.metric))
      last->value += value;
    else
      costs.push_back({code->module, code->offset, key.metric, value});
  }
  // Places are numbered by module, then offset.
  assert(std::ranges::is_sorted(costs, {}, [](const InstructionCost& cost) {
    return std::tuple(cost.module, cost.offset, cost.metric);
  }));
  return costs;
}

}  // namespace prof
