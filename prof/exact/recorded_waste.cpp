#include "prof/exact/recorded_waste.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "hpcrun/cct/waste_cells.h"

namespace prof {

using hpcrun::WasteCells;
using hpcrun::WastedMemory;
using hpcrun::WasteKind;
using hpcrun::WasteSite;

namespace {

// Leaves room for totals and pairs that belong to the root.
constexpr size_t kMaxCells = 250'000;

struct Sum {
  WasteSite site{};
  WastedMemory memory{};
  uint64_t count = 0;
  uint64_t bytes = 0;
};

auto key_of(const WasteSite& site) {
  return std::tuple(site.kind, site.first_thread, site.first_node, site.second_thread, site.second_node);
}

// Several records of the tool may be one node: code that was translated again, and unrolled loops.
class Sums {
 public:
  void add(const WasteSite& site, const WastedMemory& memory, uint64_t count, uint64_t bytes) {
    Sum& sum = sums_[key_of(site)];
    if (sum.count == 0) {
      sum.site = site;
      sum.memory = memory;
    }
    sum.count += count;
    sum.bytes += bytes;
  }

  // Returns the sums of one thread's stream, the most bytes first.
  std::vector<Sum> of_thread(uint32_t thread) const {
    std::vector<Sum> found;
    for (const auto& [key, sum] : sums_)
      if (sum.site.first_thread == thread) found.push_back(sum);
    std::stable_sort(found.begin(), found.end(),
                     [](const Sum& a, const Sum& b) { return a.bytes > b.bytes; });
    return found;
  }

 private:
  std::map<decltype(key_of({})), Sum> sums_;
};

WasteSite total_of(RecordedNode at, WasteKind kind) {
  return {at.node, at.thread, 0, 0, kind, 0};
}

void add_totals(const ExactDump& dump, RecordedContexts& contexts, Sums& totals) {
  const auto add = [&](uint32_t index, uint32_t bit, WasteKind kind) {
    const PeDumpAccess& access = dump.accesses[index];
    if ((dump.header.searched & bit) && access.count != 0)
      totals.add(total_of(contexts.access(index), kind), {}, access.count, access.count * access.bytes);
  };
  for (uint32_t i = 0; i < dump.accesses.size(); ++i) {
    if (dump.accesses[i].kind == PE_ACCESS_STORE) {
      add(i, PE_DEAD_STORES, WasteKind::DeadStore);
      add(i, PE_SILENT_STORES, WasteKind::SilentStore);
    } else if (dump.accesses[i].kind == PE_ACCESS_LOAD) {
      add(i, PE_REDUNDANT_LOADS, WasteKind::RedundantLoad);
    }
  }
}

void add_pairs(const ExactDump& dump, RecordedContexts& contexts, Sums& pairs) {
  for (const PeDumpPair& pair : dump.pairs) {
    const RecordedNode first = contexts.access(pair.first);
    const RecordedNode second = contexts.access(pair.second);
    if (second.node == hpcrun::kRootNode) continue;  // the file is full, which is reported
    const RecordedNode object = contexts.context(pair.allocation);
    pairs.add({first.node, first.thread, second.node, second.thread, static_cast<WasteKind>(pair.kind), 0},
              {object.node, object.thread, pair.address, pair.access_bytes}, pair.count, pair.bytes);
  }
}

// Writes the first sums. The others are one cell of the root each kind if they are totals.
size_t write_cells(const std::vector<Sum>& sums, size_t room, WasteCells& cells) {
  const size_t count = std::min(sums.size(), room);
  for (size_t i = 0; i < count; ++i)
    if (hpcrun::WasteCell* const cell = cells.make(sums[i].site, sums[i].memory))
      WasteCells::add(*cell, sums[i].count, sums[i].bytes);
  return count;
}

void write_rest(const std::vector<Sum>& totals, size_t written, uint32_t thread, WasteCells& cells) {
  for (size_t i = written; i < totals.size(); ++i) {
    const WasteSite root = total_of({hpcrun::kRootNode, thread}, totals[i].site.kind);
    hpcrun::WasteCell* cell = cells.find(root);
    if (!cell) cell = cells.make(root, {});
    if (cell) WasteCells::add(*cell, totals[i].count, totals[i].bytes);
  }
}

// Returns how many pairs were left out.
size_t write_thread(uint32_t thread, const Sums& totals, const Sums& pairs, RecordedContexts& contexts,
                    hpcrun::MeasurementFile& file) {
  WasteCells cells;
  if (!cells.attach(file, contexts.arena(thread), thread))
    throw DumpError("there is no memory for its pairs");
  const std::vector<Sum> all_totals = totals.of_thread(thread);
  const std::vector<Sum> all_pairs = pairs.of_thread(thread);
  const size_t written = write_cells(all_totals, kMaxCells / 2, cells);
  const size_t written_pairs = write_cells(all_pairs, kMaxCells - written, cells);
  write_rest(all_totals, written, thread, cells);
  cells.seal();
  return all_pairs.size() - written_pairs;
}

}  // namespace

void record_waste(const ExactDump& dump, RecordedContexts& contexts, hpcrun::MeasurementFile& file) {
  Sums totals;
  Sums pairs;
  add_totals(dump, contexts, totals);
  add_pairs(dump, contexts, pairs);
  size_t left_out = 0;
  for (uint32_t thread = 0; thread < contexts.threads(); ++thread)
    left_out += write_thread(thread, totals, pairs, contexts, file);
  if (left_out != 0)
    file.write_note(
        fmt::format("{} pairs of accesses are not in the database: a thread has room for {} cells; "
                    "the pairs left out have the fewest bytes.",
                    left_out, kMaxCells)
            .c_str());
}

}  // namespace prof
