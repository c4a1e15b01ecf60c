#include "hpcrun/cct/waste_cells.h"

#include <atomic>
#include <new>

#include "hpcrun/cct/cell_table.h"

namespace hpcrun {
namespace {

uint64_t hash_of(const WasteSite& site) noexcept {
  const auto node = [](uint32_t thread, uint32_t id) { return uint64_t{thread} << 32 | id; };
  const uint64_t what = uint64_t{static_cast<uint8_t>(site.kind)} << 8 | site.flags;
  return mix64(node(site.first_thread, site.first_node) ^
               mix64(node(site.second_thread, site.second_node) ^ mix64(what)));
}

bool is_of(const WasteCell& cell, const WasteSite& site) noexcept {
  return cell.first_node == site.first_node && cell.second_node == site.second_node &&
         cell.first_thread == site.first_thread && cell.second_thread == site.second_thread &&
         cell.kind == site.kind && cell.flags == site.flags;
}

}  // namespace

struct WasteCells::State {
  CellTable<WasteCell> table;
};

bool WasteCells::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  void* const memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return false;
  state_ = new (memory) State{CellTable<WasteCell>(file, arena, StreamKind::Waste, thread)};
  return true;
}

WasteCell* WasteCells::find(const WasteSite& site) noexcept {
  return state_->table.find(hash_of(site), [&](const WasteCell& cell) { return is_of(cell, site); });
}

WasteCell* WasteCells::make(const WasteSite& site, const WastedMemory& memory) noexcept {
  WasteCell cell{};
  cell.first_node = site.first_node;
  cell.first_thread = site.first_thread;
  cell.second_node = site.second_node;
  cell.second_thread = site.second_thread;
  cell.object_node = memory.object_node;
  cell.object_thread = memory.object_thread;
  cell.address = memory.address;
  cell.access_bytes = memory.access_bytes;
  cell.kind = site.kind;
  cell.flags = site.flags;
  cell.check = waste_cell_check(cell);
  return state_->table.make(hash_of(site), cell);
}

void WasteCells::add(WasteCell& cell, uint64_t count, uint64_t bytes) noexcept {
  std::atomic_ref(cell.bytes).store(cell.bytes + bytes, std::memory_order_relaxed);
  std::atomic_ref(cell.count).store(cell.count + count, std::memory_order_relaxed);
}

void WasteCells::seal() noexcept {
  state_->table.seal();
}

}  // namespace hpcrun
