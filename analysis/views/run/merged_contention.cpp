#include "analysis/views/run/merged_contention.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace prof {
namespace {

using Key = std::tuple<hpcrun::Sharing, DataKind, std::string, std::string, Remedy, std::vector<uint32_t>>;

Key key_of(const ContendedRecord& record) {
  std::vector<uint32_t> contexts;
  contexts.reserve(record.allocations.size());
  for (const ContendedRecord::Allocation& allocation : record.allocations)
    contexts.push_back(allocation.context);
  return {record.sharing, record.kind, record.name, record.declared, record.remedy, std::move(contexts)};
}

bool is_cheaper(const ContendedRecord& a, const ContendedRecord& b) {
  return std::tuple(a.weight_s, a.transfers, a.interleaved) <
         std::tuple(b.weight_s, b.transfers, b.interleaved);
}

// A process's saving applies to the CPU time that was found in it.
struct Sum {
  ContendedRecord costliest;
  double followed_weight_s = 0, followed_saving_s = 0, followed_low_s = 0, followed_high_s = 0;

  void add_saving(const ContendedRecord& record) {
    if (record.followed == 0) return;
    followed_weight_s += record.weight_s;
    followed_saving_s += record.saving_s;
    followed_low_s += record.saving_low_s;
    followed_high_s += record.saving_high_s;
  }
};

void add(ContendedRecord record, Sum& sum) {
  sum.add_saving(record);
  if (is_cheaper(sum.costliest, record)) std::swap(sum.costliest, record);
  ContendedRecord& total = sum.costliest;
  for (const auto number : {&ContendedRecord::processes, &ContendedRecord::followed})
    total.*number += record.*number;
  for (const auto number :
       {&ContendedRecord::weight_s, &ContendedRecord::false_moves, &ContendedRecord::true_moves,
        &ContendedRecord::adjacent_moves, &ContendedRecord::transfers, &ContendedRecord::transfers_per_s,
        &ContendedRecord::hitm, &ContendedRecord::remote_hitm, &ContendedRecord::latency_cycles,
        &ContendedRecord::interleaved, &ContendedRecord::interleaved_per_s})
    total.*number += record.*number;
}

}  // namespace

std::vector<ContendedRecord> merge_processes(std::vector<ContendedRecord> records) {
  std::map<Key, size_t> places;
  std::vector<Sum> sums;
  for (ContendedRecord& record : records) {
    const bool is_known = record.kind != DataKind::Unknown;
    const auto [place, is_new] =
        is_known ? places.try_emplace(key_of(record), sums.size()) : std::pair(places.end(), true);
    if (!is_new) {
      add(std::move(record), sums[place->second]);
      continue;
    }
    Sum& sum = sums.emplace_back();
    sum.add_saving(record);
    sum.costliest = std::move(record);
  }
  std::vector<ContendedRecord> merged;
  merged.reserve(sums.size());
  for (Sum& sum : sums) {
    if (sum.costliest.processes > 1 && sum.followed_weight_s > 0) {
      const double all = sum.costliest.weight_s / sum.followed_weight_s;
      sum.costliest.saving_s = sum.followed_saving_s * all;
      sum.costliest.saving_low_s = sum.followed_low_s * all;
      sum.costliest.saving_high_s = sum.followed_high_s * all;
    }
    merged.push_back(std::move(sum.costliest));
  }
  std::ranges::stable_sort(merged, [](const auto& a, const auto& b) { return is_cheaper(b, a); });
  return merged;
}

}  // namespace prof
