#include "hpcrun/device/cuda/event_pool.h"

#include <cassert>
#include <new>
#include <utility>

#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/spin_lock.h"

namespace hpcrun::cuda {

namespace {

constexpr size_t kMaxContexts = 32;
// Per context: the driver's state for an event is small, but it is on the program's device.
constexpr uint32_t kMaxTimings = 8192;

// The device's clock and ours drift apart by some 50 parts per million: 5 us in this interval.
constexpr uint64_t kEpochIntervalNs = 100'000'000;
// An idle device passes an event within some 10 us; there is no wait for a busy one. The first epoch is worth
// a longer wait: without it, nothing can be timed.
constexpr uint64_t kEpochWaitNs = 100'000;
constexpr uint64_t kFirstEpochWaitNs = 20'000'000;
constexpr int kFirstEpochTries = 3;

constinit SpinLock lock;  // guards what contexts have available
constinit Arena arena;
constinit EventContext contexts[kMaxContexts];

EventContext* find_context(CUcontext context) noexcept {
  for (EventContext& known : contexts)
    if (known.context == context) return &known;
  return nullptr;
}

// Until context_of(), the functions below must be called with the lock held.
template <typename Item>
Item* take(Item*& free) noexcept {
  assert(lock.is_held());
  Item* const taken = free;
  if (taken) free = taken->next_free;
  return taken;
}

template <typename Item>
void put(Item*& free, Item* item) noexcept {
  assert(lock.is_held());
  item->next_free = free;
  free = item;
}

void release(EventContext& context, Epoch* epoch) noexcept {
  assert(lock.is_held());
  if (epoch && --epoch->users == 0) put(context.free_epochs, epoch);
}

// Returns the entry of a context, which must be current.
EventContext* context_of(CUcontext context) noexcept {
  {
    const Locked locked(lock);
    if (EventContext* known = find_context(context)) return known;
  }
  CUstream stream = nullptr;
  if (driver.stream_create(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return nullptr;
  const Locked locked(lock);
  // The surplus stream is destroyed with the context.
  if (EventContext* known = find_context(context)) return known;
  EventContext* const place = find_context(nullptr);
  if (!place) return nullptr;
  *place = EventContext{};
  place->context = context;
  place->stream = stream;
  return place;
}

bool passes_within(CUevent event, uint64_t limit_ns, uint64_t& passed_ns) noexcept {
  const uint64_t begin = monotonic_ns();
  do {
    const CUresult result = driver.event_query(event);
    passed_ns = monotonic_ns();
    if (result != CUDA_ERROR_NOT_READY) return result == CUDA_SUCCESS;
  } while (passed_ns - begin < limit_ns);
  return false;
}

// Determines the time of an epoch. The device passed the event between the time before it was recorded and
// the time when that was observed.
bool fix(Epoch& epoch, CUstream stream, uint64_t limit_ns, uint64_t& uncertainty_ns) noexcept {
  const uint64_t before = monotonic_ns();
  uint64_t after = 0;
  if (driver.event_record(epoch.event, stream) != CUDA_SUCCESS ||
      !passes_within(epoch.event, limit_ns, after))
    return false;
  uncertainty_ns = after - before;
  epoch.ns = before + uncertainty_ns / 2;
  return true;
}

Epoch* new_epoch(EventContext& context) noexcept {
  Epoch* epoch;
  {
    const Locked locked(lock);
    epoch = take(context.free_epochs);
    if (!epoch) epoch = static_cast<Epoch*>(arena.allocate(sizeof(Epoch)));
  }
  if (epoch && !epoch->event && driver.event_create(&epoch->event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
    epoch->event = nullptr;
  return epoch;
}

// Uses the shortest of several tries, which was not interrupted.
bool fix_first(Epoch*& epoch, EventContext& context) noexcept {
  uint64_t shortest = 0;
  if (!fix(*epoch, context.stream, kFirstEpochWaitNs, shortest)) return false;
  for (int i = 1; i < kFirstEpochTries; ++i) {
    Epoch* other = new_epoch(context);
    uint64_t uncertainty = 0;
    if (!other || !other->event) continue;
    if (fix(*other, context.stream, kEpochWaitNs, uncertainty) && uncertainty < shortest) {
      std::swap(epoch, other);
      shortest = uncertainty;
    }
    const Locked locked(lock);
    put(context.free_epochs, other);
  }
  return true;
}

void renew_epoch(EventContext& context) noexcept {
  Epoch* epoch = new_epoch(context);
  uint64_t uncertainty = 0;
  const bool is_fixed =
      epoch && epoch->event &&
      (context.latest ? fix(*epoch, context.stream, kEpochWaitNs, uncertainty) : fix_first(epoch, context));
  const Locked locked(lock);
  if (is_fixed) {
    release(context, context.latest);
    epoch->users = 1;
    context.latest = epoch;
  } else if (epoch) {
    put(context.free_epochs, epoch);
  }
}

// Returns an epoch, which must be released, or nullptr if there is none.
Epoch* epoch_of(EventContext& context) noexcept {
  const uint64_t now = monotonic_ns();
  bool renews = false;
  {
    const Locked locked(lock);
    renews = now >= context.epoch_due_ns && !context.makes_epoch;
    if (renews) {
      context.makes_epoch = true;
      context.epoch_due_ns = now + kEpochIntervalNs;
    }
  }
  if (renews) renew_epoch(context);
  const Locked locked(lock);
  if (renews) context.makes_epoch = false;
  if (context.latest) ++context.latest->users;
  return context.latest;
}

Timing* free_timing(EventContext& context) noexcept {
  const Locked locked(lock);
  return take(context.free_timings);
}

Timing* new_timing(EventContext& context) noexcept {
  Timing* timing;
  {
    const Locked locked(lock);
    if (context.timing_count >= kMaxTimings) return nullptr;
    timing = static_cast<Timing*>(arena.allocate(sizeof(Timing)));
    if (timing) ++context.timing_count;
  }
  if (!timing) return nullptr;
  timing->context = &context;
  if (driver.event_create(&timing->begin, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
      driver.event_create(&timing->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
    return timing;
  const Locked locked(lock);
  context.timing_count = kMaxTimings;  // no more are available
  return nullptr;
}

}  // namespace

Timing* take_timing(CUcontext context) noexcept {
  EventContext* const place = context_of(context);
  if (!place) return nullptr;
  Timing* timing = free_timing(*place);
  if (!timing) timing = new_timing(*place);
  if (!timing) return nullptr;
  timing->epoch = epoch_of(*place);
  if (timing->epoch) return timing;
  give_back(*timing);
  return nullptr;
}

void give_back(Timing& timing) noexcept {
  const Locked locked(lock);
  release(*timing.context, timing.epoch);
  timing.epoch = nullptr;
  put(timing.context->free_timings, &timing);
}

EventContext* find_event_context(CUcontext context) noexcept {
  const Locked locked(lock);
  return context ? find_context(context) : nullptr;
}

void remove_event_context(EventContext& context) noexcept {
  const Locked locked(lock);
  context = EventContext{};
}

void reset_event_pool_after_fork() noexcept {
  new (&lock) SpinLock;
  arena = Arena{};  // its memory was not copied
  for (EventContext& context : contexts) context = EventContext{};
}

}  // namespace hpcrun::cuda
