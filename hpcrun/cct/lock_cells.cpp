#include "hpcrun/cct/lock_cells.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "hpcrun/cct/extent_stream.h"
#include "hpcrun/cct/segments.h"

namespace hpcrun {

namespace {

constexpr size_t kMaxExtent = 64 * 1024;
constexpr uint32_t kChains = 2048;
// Limits the disk space of a program that keeps waiting in new contexts for new locks.
constexpr uint32_t kMaxCells = 256 * 1024;

void store(uint64_t& to, uint64_t value) noexcept {
  std::atomic_ref(to).store(value, std::memory_order_relaxed);
}

uint32_t chain_of(const LockSite& site) noexcept {
  const uint64_t where = uint64_t{site.thread} << 32 | site.node;
  return static_cast<uint32_t>(mix64(site.object ^ mix64(where))) % kChains;
}

bool is_of(const LockCell& cell, const LockSite& site) noexcept {
  return cell.object == site.object && cell.node == site.node && cell.thread == site.thread &&
         cell.kind == site.kind && cell.role == site.role;
}

}  // namespace

struct LockCells::State {
  struct Link {
    LockCell* cell;
    uint32_t next;  // 1 + index, 0 ends the chain
  };

  MeasurementFile* file;
  Arena* arena;
  ExtentStream stream;
  SegmentedArray<Link, 6> links;
  uint32_t count;
  SegmentedArray<MappedExtent, 3> full;  // stay mapped: their cells still change
  uint32_t full_count;
  bool sealed;
  uint32_t chains[kChains];
};

bool LockCells::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  void* const memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return false;
  auto* state = new (memory) State{};
  state->file = &file;
  state->arena = &arena;
  state->stream.attach(file, StreamKind::Locks, thread, kMaxExtent);
  state_ = state;
  return true;
}

LockCell* LockCells::find(const LockSite& site) noexcept {
  if (state_->sealed) return nullptr;
  for (uint32_t at = state_->chains[chain_of(site)]; at != 0;) {
    const State::Link& link = state_->links[at - 1];
    if (is_of(*link.cell, site)) return link.cell;
    at = link.next;
  }
  return nullptr;
}

LockCell* LockCells::make(const LockSite& site) noexcept {
  State& state = *state_;
  if (state.sealed || state.count == kMaxCells || !state.links.ensure(*state.arena, state.count))
    return nullptr;
  if (!state.stream.has_room(sizeof(LockCell))) {
    if (!state.full.ensure(*state.arena, state.full_count)) return nullptr;
    MappedExtent full;
    if (!state.stream.advance(0, full)) return nullptr;
    if (full.header != nullptr) state.full[state.full_count++] = full;
  }
  auto* const cell = new (state.stream.next()) LockCell{};
  cell->object = site.object;
  cell->node = site.node;
  cell->thread = site.thread;
  cell->kind = site.kind;
  cell->role = site.role;
  cell->check = lock_cell_check(*cell);
  state.stream.publish(sizeof(LockCell));
  uint32_t& first = state.chains[chain_of(site)];
  state.links[state.count] = {cell, first};
  first = ++state.count;
  return cell;
}

void LockCells::add(LockCell& cell, uint64_t ns) noexcept {
  store(cell.total_ns, cell.total_ns + ns);
  store(cell.longest_ns, std::max(cell.longest_ns, ns));
  store(cell.waits, cell.waits + 1);
}

void LockCells::add(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept {
  store(cell.total_ns, cell.total_ns + total);
  store(cell.longest_ns, cell.longest_ns + longest);
  store(cell.waits, cell.waits + waits);
}

void LockCells::set(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept {
  store(cell.total_ns, 0);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  store(cell.waits, waits);
  store(cell.longest_ns, longest);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  store(cell.total_ns, total);
}

void LockCells::seal() noexcept {
  State& state = *state_;
  if (state.sealed) return;
  state.sealed = true;
  for (uint32_t i = 0; i < state.full_count; ++i) state.file->seal_and_unmap(state.full[i]);
  state.stream.close();
}

}  // namespace hpcrun
