#include "hpcrun/device/cuda/launches.h"

#include <cassert>
#include <new>

#include "hpcrun/guest/own_memory.h"

namespace hpcrun::cuda {

namespace {

constexpr uint32_t kFirstSlotBits = 10;
constexpr uint32_t kMaxSlotBits = 24;

}  // namespace

Launch* Launches::add(LaunchList& list, Queue* queue, Task* task, Records records,
                      uint32_t expected) noexcept {
  void* memory = free_;
  if (free_)
    free_ = free_->next;
  else
    memory = arena_.allocate(sizeof(Launch));
  if (!memory) return nullptr;
  Launch* const launch = new (memory) Launch{};
  launch->queue = queue;
  launch->task = task;
  launch->records = records;
  launch->expected = expected;
  launch->sequence = ++last_sequence_;
  launch->previous = list.last;
  (list.last ? list.last->next : list.first) = launch;
  list.last = launch;
  ++count_;
  return launch;
}

// Open addressing without tombstones: erasing moves the following entries of the chain up.
bool Launches::name(Launch& launch, uint32_t id) noexcept {
  for (uint32_t i = 0; i < launch.id_count; ++i)
    if (launch.ids[i] == id) return true;
  if (launch.id_count == Launch::kMaxIds) return false;
  if ((!slots_ || 2 * (used_ + 1) > mask_ + 1) && !grow()) return false;
  uint32_t at = home(id);
  while (slots_[at].launch && slots_[at].id != id) at = (at + 1) & mask_;
  if (!slots_[at].launch) ++used_;
  slots_[at] = {id, &launch};
  launch.ids[launch.id_count++] = id;
  return true;
}

Launch* Launches::find(uint32_t id) const noexcept {
  if (!slots_) return nullptr;
  for (uint32_t at = home(id); slots_[at].launch; at = (at + 1) & mask_)
    if (slots_[at].id == id) return slots_[at].launch;
  return nullptr;
}

bool Launches::receive(Launch& launch) noexcept {
  ++launch.received;
  return launch.records == Records::One || (launch.expected != 0 && launch.received >= launch.expected);
}

void Launches::remove(LaunchList& list, Launch& launch) noexcept {
  assert(launch.sequence != 0);  // it was not removed before
  for (uint32_t i = 0; i < launch.id_count; ++i)
    if (find(launch.ids[i]) == &launch) erase(launch.ids[i]);
  (launch.previous ? launch.previous->next : list.first) = launch.next;
  (launch.next ? launch.next->previous : list.last) = launch.previous;
  launch.sequence = 0;
  launch.next = free_;
  free_ = &launch;
  --count_;
}

void Launches::cover(LaunchList& list, uint64_t sequence, uint64_t now_ns) noexcept {
  for (Launch* launch = list.first; launch && launch->sequence <= sequence; launch = launch->next)
    if (!launch->covered_ns) launch->covered_ns = now_ns;
}

Launch* Launches::overdue(const LaunchList& list, uint64_t now_ns) noexcept {
  for (Launch* launch = list.first; launch && launch->covered_ns; launch = launch->next)
    if (now_ns - launch->covered_ns > kOverdueNs) return launch;
  return nullptr;
}

bool Launches::grow() noexcept {
  const uint32_t bits = slots_ ? 33 - shift_ : kFirstSlotBits;
  if (bits > kMaxSlotBits) return false;
  const uint32_t count = 1u << bits;
  void* memory = map_own_memory(count * sizeof(Slot), InChild::Copy);
  if (!memory) return false;
  Slot* const old = slots_;
  const uint32_t old_count = old ? mask_ + 1 : 0;
  slots_ = static_cast<Slot*>(memory);
  mask_ = count - 1;
  shift_ = 32 - bits;
  for (uint32_t i = 0; i < old_count; ++i) {
    if (!old[i].launch) continue;
    uint32_t at = home(old[i].id);
    while (slots_[at].launch) at = (at + 1) & mask_;
    slots_[at] = old[i];
  }
  if (old) unmap_own_memory(old, old_count * sizeof(Slot));
  return true;
}

void Launches::erase(uint32_t id) noexcept {
  uint32_t at = home(id);
  while (slots_[at].id != id || !slots_[at].launch) at = (at + 1) & mask_;
  for (uint32_t from = (at + 1) & mask_; slots_[from].launch; from = (from + 1) & mask_) {
    // An entry may be moved to any slot between its home and its present one.
    if (((from - home(slots_[from].id)) & mask_) < ((from - at) & mask_)) continue;
    slots_[at] = slots_[from];
    at = from;
  }
  slots_[at].launch = nullptr;
  --used_;
}

}  // namespace hpcrun::cuda
