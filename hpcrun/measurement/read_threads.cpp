#include "hpcrun/measurement/read_threads.h"

#include <algorithm>
#include <utility>

namespace prof {

using hpcrun::LockCell;
using hpcrun::LockKind;
using hpcrun::LockRole;
using hpcrun::NodeRecord;
using hpcrun::StreamKind;
using hpcrun::ValueCell;
using hpcrun::WasteCell;
using hpcrun::WasteKind;

namespace {

constexpr uint64_t kMaxNodes = uint64_t{1} << 31;

template <typename T>
bool all_zero(const T& record) {
  const T zero{};
  return std::memcmp(&record, &zero, sizeof zero) == 0;
}

class ThreadStreams {
 public:
  ThreadStreams(const Layout& layout, uint64_t file_bytes)
      : layout_(layout), lost_budget_(file_bytes / layout.node_bytes) {}

  void read_nodes(const Extent& extent, MeasuredThread& thread, Warnings& warnings) {
    const size_t count = extent.payload.size() / layout_.node_bytes;
    const uint64_t known = thread.nodes.size();
    // Ids are dense, so the nodes missing before this extent once took space in the file.
    if (extent.first < known || extent.first + count > kMaxNodes || extent.first - known > lost_budget_) {
      warnings.add("thread " + std::to_string(thread.index) + ": the calling contexts at offset " +
                   std::to_string(extent.offset) + " have invalid IDs and are left out");
      return;
    }
    lost_budget_ -= extent.first - known;
    lost_nodes_ += extent.first - known;
    thread.nodes.resize(extent.first, MeasuredNode{0, kLostFrame});
    for (size_t i = 0; i < count; ++i) {
      const auto record = load_at<NodeRecord>(extent.payload, i * layout_.node_bytes);
      // Zeros: a damaged length covers more than was written.
      if (all_zero(record)) break;
      const auto id = static_cast<uint32_t>(thread.nodes.size());
      const bool sound =
          record.check == hpcrun::node_check(id, record.parent, record.frame) && record.parent < id;
      if (!sound) ++lost_nodes_;
      thread.nodes.push_back(sound ? MeasuredNode{record.parent, record.frame} : MeasuredNode{0, kLostFrame});
    }
  }

  void read_values(const Extent& extent, MeasuredThread& thread) {
    // The value of a cell has no check of its own.
    if (!extent.intact) return;
    const size_t count = extent.payload.size() / layout_.cell_bytes;
    for (size_t i = 0; i < count; ++i) {
      const auto cell = load_at<ValueCell>(extent.payload, i * layout_.cell_bytes);
      if (all_zero(cell)) break;
      if (cell.check != hpcrun::cell_check(cell.node, cell.metric)) {
        ++lost_cells_;
      } else if ((cell.metric & hpcrun::kWaitingMetric) != 0) {
        const auto metric = static_cast<uint16_t>(cell.metric & ~hpcrun::kWaitingMetric);
        if (cell.value != 0) thread.waits.push_back({cell.node, metric, cell.value, cell.samples});
      } else if (cell.samples != 0 || cell.value != 0) {
        thread.cells.push_back({cell.node, cell.metric, cell.samples, cell.value});
      }
    }
  }

  // Later versions of the format may add roles.
  static bool is_known(LockRole role) { return role <= LockRole::Idle; }

  static bool has_something(const LockCell& cell) {
    return cell.role == LockRole::Open ? cell.total_ns != 0 : cell.waits != 0;
  }

  void read_locks(const Extent& extent, MeasuredThread& thread) {
    if (!extent.intact) return;
    const size_t count = extent.payload.size() / sizeof(LockCell);
    for (size_t i = 0; i < count; ++i) {
      const auto cell = load_at<LockCell>(extent.payload, i * sizeof(LockCell));
      if (all_zero(cell)) break;
      if (cell.check != hpcrun::lock_cell_check(cell))
        ++lost_cells_;
      else if (is_known(cell.role) && has_something(cell))
        thread.locks.push_back({cell.object, cell.thread, cell.node, cell.kind, cell.role, cell.waits,
                                cell.total_ns, cell.longest_ns});
    }
  }

  static bool is_known(WasteKind kind) {
    return kind >= WasteKind::DeadStore && kind <= WasteKind::RedundantLoad;
  }

  void read_waste(const Extent& extent, MeasuredThread& thread) {
    if (!extent.intact) return;
    const size_t count = extent.payload.size() / sizeof(WasteCell);
    for (size_t i = 0; i < count; ++i) {
      const auto cell = load_at<WasteCell>(extent.payload, i * sizeof(WasteCell));
      if (all_zero(cell)) break;
      if (cell.check != hpcrun::waste_cell_check(cell)) {
        ++lost_cells_;
      } else if (is_known(cell.kind) && cell.count != 0) {
        thread.waste.push_back({cell.first_node, cell.first_thread, cell.second_node, cell.second_thread,
                                cell.object_node, cell.object_thread, cell.address, cell.access_bytes,
                                cell.kind, cell.flags, cell.count, cell.bytes});
      }
    }
  }

  // A cell whose context was lost counts for the root, so that totals stay correct.
  void repair_cells(MeasuredThread& thread) {
    const auto repair = [&](auto& values) {
      for (auto& value : values) {
        if (value.node < thread.nodes.size()) continue;
        value.node = 0;
        ++orphan_cells_;
      }
    };
    repair(thread.cells);
    repair(thread.waits);
  }

  void report(const MeasuredThread& thread, Warnings& warnings) {
    const std::string who = "thread " + std::to_string(thread.index) + ": ";
    if (lost_nodes_ != 0) {
      warnings.add(who + std::to_string(lost_nodes_) +
                   " calling contexts are lost; their callees are attached to the root");
    }
    if (lost_cells_ != 0)
      warnings.add(who + std::to_string(lost_cells_) + " metric values are damaged and left out");
    if (orphan_cells_ != 0) {
      warnings.add(who + std::to_string(orphan_cells_) +
                   " metric values lost their context and are attributed to the root");
    }
    lost_nodes_ = lost_cells_ = orphan_cells_ = 0;
  }

 private:
  const Layout& layout_;
  uint64_t lost_budget_;  // for the whole file
  uint64_t lost_nodes_ = 0;
  uint64_t lost_cells_ = 0;
  uint64_t orphan_cells_ = 0;
};

// Returns the readable extents of a stream that starts with a TraceStart.
std::shared_ptr<const std::vector<TraceExtent>> trace_extents(const std::vector<const Extent*>& extents,
                                                              StreamKind kind) {
  auto found = std::make_shared<std::vector<TraceExtent>>();
  std::vector<TraceExtent>& result = *found;
  bool after_loss = false;
  for (const Extent* extent : extents) {
    if (extent->kind != kind) continue;
    after_loss |= extent->follows_loss;
    if (!extent->intact || extent->payload.size() < sizeof(hpcrun::TraceStart)) {
      after_loss |= !extent->intact;
      continue;
    }
    result.push_back({extent->payload.data(), static_cast<uint32_t>(extent->payload.size()), after_loss});
    after_loss = false;
  }
  return found;
}

// Contexts may belong to other threads. Drops cells whose thread was lost, and moves those whose node was
// lost to the root.
void repair_locks(std::map<uint32_t, MeasuredThread>& threads) {
  for (auto& [index, thread] : threads) {
    std::erase_if(thread.locks, [&](const MeasuredLockCell& cell) { return !threads.contains(cell.thread); });
    for (MeasuredLockCell& cell : thread.locks)
      if (cell.node >= threads.at(cell.thread).nodes.size()) cell.node = 0;
  }
}

// Contexts may belong to other threads. A pair of which a context was lost is dropped: without its second
// node it would be a total. A total whose context was lost moves to the root.
void repair_waste(std::map<uint32_t, MeasuredThread>& threads) {
  const auto is_lost = [&](uint32_t thread, uint32_t node) {
    const auto found = threads.find(thread);
    return found == threads.end() || node >= found->second.nodes.size();
  };
  for (auto& [index, thread] : threads) {
    std::erase_if(thread.waste, [&](const MeasuredWasteCell& cell) {
      if (cell.second_node == 0) return !threads.contains(cell.first_thread);
      return is_lost(cell.first_thread, cell.first_node) || is_lost(cell.second_thread, cell.second_node);
    });
    for (MeasuredWasteCell& cell : thread.waste) {
      if (is_lost(cell.first_thread, cell.first_node)) cell.first_node = 0;
      if (is_lost(cell.object_thread, cell.object_node)) cell.object_node = cell.object_thread = 0;
    }
  }
}

}  // namespace

void read_threads(const std::vector<Extent>& extents, const Layout& layout, uint64_t file_bytes,
                  std::map<uint32_t, MeasuredThread>& threads, Warnings& warnings) {
  std::map<uint32_t, std::vector<const Extent*>> by_thread;
  for (const Extent& extent : extents) {
    switch (extent.kind) {
      case StreamKind::Nodes:
      case StreamKind::Values:
      case StreamKind::Trace:
      case StreamKind::Tasks:
      case StreamKind::Waits:
      case StreamKind::Accesses:
      case StreamKind::Locks:
      case StreamKind::Waste:
        by_thread[extent.thread].push_back(&extent);
        threads[extent.thread];
        break;
      default:  // process records, or a stream that a later version of the format added
        break;
    }
  }
  ThreadStreams streams(layout, file_bytes);
  for (auto& [index, thread] : threads) {
    thread.index = index;
    thread.quantum_ns = layout.trace_quantum_ns;
    thread.nodes.assign(1, MeasuredNode{});
    const std::vector<const Extent*>& own = by_thread[index];
    for (const Extent* extent : own) {
      if (extent->kind == StreamKind::Nodes) streams.read_nodes(*extent, thread, warnings);
      if (extent->kind == StreamKind::Values) streams.read_values(*extent, thread);
      if (extent->kind == StreamKind::Locks) streams.read_locks(*extent, thread);
      if (extent->kind == StreamKind::Waste) streams.read_waste(*extent, thread);
    }
    streams.repair_cells(thread);
    streams.report(thread, warnings);
    thread.trace_extents = trace_extents(own, StreamKind::Trace);
    thread.task_extents = trace_extents(own, StreamKind::Tasks);
    thread.wait_extents = trace_extents(own, StreamKind::Waits);
    thread.access_extents = trace_extents(own, StreamKind::Accesses);
    for (const auto& stream :
         {thread.trace_extents, thread.task_extents, thread.wait_extents, thread.access_extents})
      for (const TraceExtent& extent : *stream) thread.trace_bytes += extent.bytes;
  }
  repair_locks(threads);
  repair_waste(threads);
}

}  // namespace prof
