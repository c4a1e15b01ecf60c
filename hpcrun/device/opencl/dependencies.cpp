#include "hpcrun/device/opencl/dependencies.h"

#include <new>

#include "hpcrun/device/opencl/commands.h"

namespace hpcrun::opencl {

namespace {

// The rest of a longer wait list is not examined, which costs time, and is not charged.
constexpr cl_uint kMaxExamined = 16;
constexpr uint32_t kMaxNoted = 4;

}  // namespace

struct Dependencies {
  struct Awaited {
    Device* device;
    Launch launch;
    cl_event event;
  };
  Dependencies* next_free;
  uint32_t count;
  Awaited awaited[kMaxNoted];
};

namespace {

constinit SpinLock free_lock;
constinit Dependencies* first_free = nullptr;

Dependencies* new_dependencies() noexcept {
  {
    const Locked locked(free_lock);
    if (Dependencies* const taken = first_free) {
      first_free = taken->next_free;
      return new (taken) Dependencies{};
    }
  }
  void* const memory = keep(sizeof(Dependencies));
  return memory ? new (memory) Dependencies{} : nullptr;
}

uint64_t end_of(const Dependencies::Awaited& awaited, uint64_t now_ns) noexcept {
  cl_ulong end = 0;
  if (next.clGetEventProfilingInfo(awaited.event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) !=
          CL_SUCCESS ||
      end == 0)
    return 0;
  const Locked locked(awaited.device->clock_lock);
  return awaited.device->clock.monotonic(end, 0, now_ns);
}

}  // namespace

Dependencies* dependencies_on_others(const Queue& queue, cl_uint count, const cl_event* list) noexcept {
  Dependencies* found = nullptr;
  for (cl_uint i = 0; list && i < count && i < kMaxExamined; ++i) {
    Queue* const other = queue_of_event(list[i]);
    if (!other || other == &queue) continue;
    const Launch launch = launch_under_way(*other, list[i]);
    if (launch.queue == kNoQueue) continue;
    if (!found && !(found = new_dependencies())) return nullptr;
    next.clRetainEvent(list[i]);
    found->awaited[found->count++] = {other->device, launch, list[i]};
    if (found->count == kMaxNoted) break;
  }
  return found;
}

void release(Dependencies* dependencies) noexcept {
  if (!dependencies) return;
  for (uint32_t i = 0; i < dependencies->count; ++i) next.clReleaseEvent(dependencies->awaited[i].event);
  const Locked locked(free_lock);
  dependencies->next_free = first_free;
  first_free = dependencies;
}

AwaitedTask latest_end(Dependencies* dependencies, uint64_t now_ns) noexcept {
  AwaitedTask latest{};
  for (uint32_t i = 0; dependencies && i < dependencies->count; ++i) {
    const uint64_t end = end_of(dependencies->awaited[i], now_ns);
    if (end > latest.end_ns) latest = {dependencies->awaited[i].launch, end};
  }
  release(dependencies);
  return latest;
}

void reset_dependencies_after_fork() noexcept {
  new (&free_lock) SpinLock;
  first_free = nullptr;
}

}  // namespace hpcrun::opencl
