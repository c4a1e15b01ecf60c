#include "hpcrun/cct/lock_cells.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "hpcrun/cct/cell_table.h"

namespace hpcrun {

namespace {

void store(uint64_t& to, uint64_t value) noexcept {
  std::atomic_ref(to).store(value, std::memory_order_relaxed);
}

uint64_t hash_of(const LockSite& site) noexcept {
  const uint64_t where = uint64_t{site.thread} << 32 | site.node;
  return mix64(site.object ^ mix64(where));
}

bool is_of(const LockCell& cell, const LockSite& site) noexcept {
  return cell.object == site.object && cell.node == site.node && cell.thread == site.thread &&
         cell.kind == site.kind && cell.role == site.role;
}

}  // namespace

struct LockCells::State {
  CellTable<LockCell> table;
};

bool LockCells::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  void* const memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return false;
  state_ = new (memory) State{CellTable<LockCell>(file, arena, StreamKind::Locks, thread)};
  return true;
}

LockCell* LockCells::find(const LockSite& site) noexcept {
  return state_->table.find(hash_of(site), [&](const LockCell& cell) { return is_of(cell, site); });
}

LockCell* LockCells::make(const LockSite& site) noexcept {
  LockCell cell{};
  cell.object = site.object;
  cell.node = site.node;
  cell.thread = site.thread;
  cell.kind = site.kind;
  cell.role = site.role;
  cell.check = lock_cell_check(cell);
  return state_->table.make(hash_of(site), cell);
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
  state_->table.seal();
}

}  // namespace hpcrun
