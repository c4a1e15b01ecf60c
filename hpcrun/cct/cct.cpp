#include "hpcrun/cct/cct.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <new>

#include "hpcrun/cct/extent_stream.h"
#include "hpcrun/cct/node_index.h"

namespace hpcrun {
namespace {

// Large enough that a new extent is rare, small enough that the unused half of the last one takes little disk
// space.
constexpr size_t kMaxNodeExtent = 256 * 1024;
constexpr size_t kMaxValueExtent = 256 * 1024;

void store(uint64_t& cell, uint64_t value) noexcept {
  std::atomic_ref(cell).store(value, std::memory_order_relaxed);
}

}  // namespace

struct CallingContextTree::State {
  // Links a metric's cell to the node's next one.
  struct CellLink {
    ValueCell* cell;
    uint32_t next;  // 1 + index, 0 ends the chain
    uint16_t metric;
  };

  MeasurementFile* file;
  Arena* arena;
  NodeIndex index;
  ExtentStream nodes;
  ExtentStream values;
  SegmentedArray<CellLink, 7> cells;
  uint32_t cell_count;
  SegmentedArray<MappedExtent, 3> full_values;  // stay mapped: their cells still change
  uint32_t full_value_count;
  bool sealed;
  // The previous path, root first: memo_frames[i] led to memo_nodes[i].
  FrameKey* memo_frames;
  NodeId* memo_nodes;
  uint32_t memo_depth;

  uint32_t shared_with_memo(const FrameKey* frames, uint32_t depth) const noexcept {
    const uint32_t limit = std::min(depth, memo_depth);
    const FrameKey* from_root = frames + depth;
    uint32_t level = 0;
    while (level < limit && *--from_root == memo_frames[level]) ++level;
    return level;
  }

  NodeId create(NodeId parent, FrameKey frame, uint32_t hash) noexcept {
    assert(parent < index.count());  // the file lists callers first
    if (!index.reserve()) return kNoNode;
    if (!nodes.has_room(sizeof(NodeRecord))) {
      MappedExtent full;
      if (!nodes.advance(index.count(), full)) return kNoNode;
      file->seal_and_unmap(full);
    }
    const NodeId id = index.add(parent, frame, hash);
    *reinterpret_cast<NodeRecord*>(nodes.next()) = {parent, node_check(id, parent, frame), frame};
    nodes.publish(sizeof(NodeRecord));
    return id;
  }

  ValueCell* find_cell(NodeId node, uint16_t metric) noexcept {
    for (uint32_t at = index[node].first_cell; at != 0;) {
      const CellLink& link = cells[at - 1];
      if (link.metric == metric) return link.cell;
      at = link.next;
    }
    return nullptr;
  }

  ValueCell* create_cell(NodeId node, uint16_t metric) noexcept {
    if (!cells.ensure(*arena, cell_count)) return nullptr;
    if (!values.has_room(sizeof(ValueCell))) {
      if (!full_values.ensure(*arena, full_value_count)) return nullptr;
      MappedExtent full;
      if (!values.advance(0, full)) return nullptr;
      if (full.header != nullptr) full_values[full_value_count++] = full;
    }
    auto* cell = new (values.next()) ValueCell{node, metric, cell_check(node, metric), 0, 0};
    values.publish(sizeof(ValueCell));
    uint32_t& first = index[node].first_cell;
    cells[cell_count] = {cell, first, metric};
    first = ++cell_count;
    return cell;
  }

  ValueCell* cell_of(NodeId node, uint16_t metric) noexcept {
    if (sealed || node >= index.count()) return nullptr;
    ValueCell* cell = find_cell(node, metric);
    return cell != nullptr ? cell : create_cell(node, metric);
  }
};

bool CallingContextTree::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  void* memory = arena.allocate(sizeof(State));
  auto* memo_frames = arena.allocate_array<FrameKey>(kMaxDepth);
  auto* memo_nodes = arena.allocate_array<NodeId>(kMaxDepth);
  if (memory == nullptr || memo_frames == nullptr || memo_nodes == nullptr) return false;
  auto* state = new (memory) State{};
  if (!state->index.attach(arena)) return false;
  state->file = &file;
  state->arena = &arena;
  state->memo_frames = memo_frames;
  state->memo_nodes = memo_nodes;
  state->nodes.attach(file, StreamKind::Nodes, thread, kMaxNodeExtent);
  state->values.attach(file, StreamKind::Values, thread, kMaxValueExtent);
  state_ = state;
  return true;
}

NodeId CallingContextTree::insert(const FrameKey* frames, uint32_t depth) noexcept {
  State& state = *state_;
  if (state.sealed) return kNoNode;
  depth = std::min(depth, kMaxDepth);
  uint32_t level = state.shared_with_memo(frames, depth);
  NodeId node = level == 0 ? kRootNode : state.memo_nodes[level - 1];
  for (; level < depth; ++level) {
    const FrameKey frame = frames[depth - 1 - level];
    const uint32_t hash = NodeIndex::hash(node, frame);
    NodeId next = state.index.find(node, frame, hash);
    if (next == 0) next = state.create(node, frame, hash);
    // If the path was not completed, the shorter memo still describes its beginning.
    state.memo_depth = level;
    if (next == kNoNode) return kNoNode;
    state.memo_frames[level] = frame;
    state.memo_nodes[level] = next;
    state.memo_depth = level + 1;
    node = next;
  }
  return node;
}

NodeId CallingContextTree::sibling(NodeId node, FrameKey frame) noexcept {
  State& state = *state_;
  if (state.sealed || node == kRootNode || node >= state.index.count()) return kNoNode;
  const NodeId parent = state.index[node].parent;
  const uint32_t hash = NodeIndex::hash(parent, frame);
  const NodeId found = state.index.find(parent, frame, hash);
  return found != 0 ? found : state.create(parent, frame, hash);
}

bool CallingContextTree::add(NodeId node, uint16_t metric, uint64_t value, uint64_t samples) noexcept {
  assert((metric & kWaitingMetric) == 0);
  ValueCell* cell = state_->cell_of(node, metric);
  if (cell == nullptr) return false;
  store(cell->value, cell->value + value);
  store(cell->samples, cell->samples + samples);
  return true;
}

ValueCell* CallingContextTree::cell(NodeId node, uint16_t metric) noexcept {
  assert((metric & kWaitingMetric) == 0);
  return state_->cell_of(node, metric);
}

ValueCell* CallingContextTree::wait_cell(NodeId node, uint16_t metric) noexcept {
  assert((metric & kWaitingMetric) == 0);
  return state_->cell_of(node, metric | kWaitingMetric);
}

void CallingContextTree::seal() noexcept {
  State& state = *state_;
  if (state.sealed) return;
  state.sealed = true;
  state.nodes.close();
  for (uint32_t i = 0; i < state.full_value_count; ++i) state.file->seal_and_unmap(state.full_values[i]);
  state.values.close();
}

}  // namespace hpcrun
