#include "hpcrun/device/schedule.h"

namespace hpcrun {

void Scope::clear() noexcept {
  devices_.store(0, std::memory_order_relaxed);
  touched_.store(0, std::memory_order_relaxed);
  part_count_.store(0, std::memory_order_relaxed);
}

void Scope::copy_from(const Scope& other) noexcept {
  const uint32_t count = other.part_count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) parts_[i] = other.parts_[i];
  part_count_.store(count, std::memory_order_relaxed);
  devices_.store(other.devices_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  touched_.store(other.touched_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void Scope::add_device(DeviceIndex device) noexcept {
  devices_.fetch_or(1u << device, std::memory_order_relaxed);
  touched_.fetch_or(1u << device, std::memory_order_relaxed);
}

void Scope::add(DeviceIndex device, const Part& part) noexcept {
  const uint32_t count = part_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i)
    if (parts_[i].queue == part.queue && parts_[i].first_serial <= part.first_serial &&
        parts_[i].last_serial >= part.last_serial)
      return;
  if (count == kMaxParts) return add_device(device);
  parts_[count] = part;
  part_count_.store(count + 1, std::memory_order_release);
  touched_.fetch_or(1u << device, std::memory_order_relaxed);
}

void Scope::add_queue(DeviceIndex device, QueueIndex queue) noexcept {
  add(device, {queue, 0, UINT64_MAX});
}

void Scope::add_task(const Task& task, bool in_order) noexcept {
  add(task.device, {task.queue, in_order ? 0 : task.serial, task.serial});
}

bool Scope::has(const Task& task) const noexcept {
  const uint32_t touched = touched_.load(std::memory_order_relaxed);
  if (!touched || devices_.load(std::memory_order_relaxed) >> task.device & 1) return true;
  if (!(touched >> task.device & 1)) return false;
  const uint32_t count = part_count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Part& part = parts_[i];
    if (part.queue == task.queue && part.first_serial <= task.serial && task.serial <= part.last_serial)
      return true;
  }
  return false;
}

bool Scope::has_device(DeviceIndex device) const noexcept {
  const uint32_t touched = touched_.load(std::memory_order_relaxed);
  return !touched || touched >> device & 1;
}

}  // namespace hpcrun
