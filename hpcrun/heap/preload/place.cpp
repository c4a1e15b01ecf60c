#include "hpcrun/heap/preload/place.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "hpcrun/heap/preload/placed_memory.h"

namespace hpcrun {

constinit MovedObjects moved_objects;

namespace {

void* allocate_aligned(size_t align, size_t bytes) noexcept {
  if (next.memalign) return next.memalign(align, bytes);
  return next.aligned_alloc ? next.aligned_alloc(align, (bytes + align - 1) / align * align) : nullptr;
}

bool may_move() noexcept {
  return next.is_c_library && !heap_hooks.keeps_beginnings.load(std::memory_order_relaxed);
}

}  // namespace

PlaceAnswer ask(size_t bytes, size_t align, const void* frame) noexcept {
  const auto hook = heap_hooks.place.load(std::memory_order_acquire);
  return hook ? hook(bytes, align, frame) : PlaceAnswer{};
}

void report_made(void* at, size_t bytes, size_t padding, const PlaceAnswer& answer, bool placed) noexcept {
  const PlaceOutcome outcome = placed         ? PlaceOutcome::Placed
                               : answer.align ? PlaceOutcome::Refused
                                              : PlaceOutcome::NotAsked;
  if (const auto hook = heap_hooks.made.load(std::memory_order_acquire))
    hook(at, bytes, padding, answer, outcome);
}

void* make_placed(size_t bytes, size_t align, const PlaceAnswer& answer, size_t& padding) noexcept {
  const PlacedRequest request = placed_request(bytes, align, answer);
  if (!request.align || (request.offset && !may_move())) return nullptr;
  const int error = errno;
  auto* const base = static_cast<char*>(allocate_aligned(request.align, request.bytes));
  errno = error;
  if (!base) return nullptr;
  padding = request.bytes - bytes;
  if (!request.offset) return base;
  if (moved_objects.add(base + request.offset, request.offset, request.bytes - request.offset)) {
    heap_hooks.known.keep(reinterpret_cast<uint64_t>(base + request.offset));
    return base + request.offset;
  }
  next.free(base);
  return nullptr;
}

void* allocate_zeroed(size_t bytes, const void* frame) noexcept {
  const PlaceAnswer answer = ask(bytes, 1, frame);
  size_t padding = 0;
  void* const placed = make_placed(bytes, 1, answer, padding);
  if (placed) memset(placed, 0, bytes);
  void* const at = placed ? placed : next.calloc(1, bytes);
  if (at) report_made(at, bytes, padding, answer, placed != nullptr);
  return at;
}

void* replace(void* at, size_t bytes, const void* frame) noexcept {
  const PlaceAnswer answer = ask(bytes, 1, frame);
  size_t padding = 0;
  void* const placed = make_placed(bytes, 1, answer, padding);
  if (placed) {
    memcpy(placed, at, bytes);
    next.free(at);
  }
  void* const now = placed ? placed : at;
  report_made(now, bytes, padding, answer, placed != nullptr);
  return now;
}

void* reallocate_moved(void* before, size_t bytes, const void* frame) noexcept {
  if (bytes == 0) {  // the allocator decides what that does
    report_released(before);
    return reported_if_needed(next.realloc(moved_objects.take(before), 0), 0, 1, frame);
  }
  const auto plain = [bytes]() noexcept { return next.malloc(bytes); };
  void* const now = may_be_placed(bytes, frame) ? allocate(bytes, 1, frame, plain)
                                                : reported_if_needed(plain(), bytes, 1, frame);
  if (!now) return nullptr;
  memcpy(now, before, std::min(bytes, MovedObjects::bytes_of(before)));
  report_released(before);
  next.free(moved_objects.take(before));
  return now;
}

}  // namespace hpcrun
