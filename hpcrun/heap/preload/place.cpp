#include "hpcrun/heap/preload/place.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "hpcrun/heap/preload/placed_memory.h"

namespace hpcrun {

constinit MovedObjects moved_objects;

namespace {

void* allocate_aligned(size_t align, size_t bytes) noexcept {
  if (behind.memalign) return behind.memalign(align, bytes);
  return behind.aligned_alloc ? behind.aligned_alloc(align, (bytes + align - 1) / align * align) : nullptr;
}

bool may_move() noexcept {
  return behind.is_c_library && !heap_hooks.keeps_beginnings.load(std::memory_order_relaxed);
}

}  // namespace

PlaceAnswer ask(size_t bytes, size_t align, const void* frame) noexcept {
  const auto hook = heap_hooks.place.load(std::memory_order_acquire);
  return hook ? hook(bytes, align, frame) : PlaceAnswer{};
}

void tell_made(void* at, size_t bytes, size_t padding, const PlaceAnswer& answer, bool placed) noexcept {
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
  behind.free(base);
  return nullptr;
}

void* allocate_zeroed(size_t bytes, const void* frame) noexcept {
  const PlaceAnswer answer = ask(bytes, 1, frame);
  size_t padding = 0;
  void* const placed = make_placed(bytes, 1, answer, padding);
  if (placed) memset(placed, 0, bytes);
  void* const at = placed ? placed : behind.calloc(1, bytes);
  if (at) tell_made(at, bytes, padding, answer, placed != nullptr);
  return at;
}

void* replace(void* at, size_t bytes, const void* frame) noexcept {
  const PlaceAnswer answer = ask(bytes, 1, frame);
  size_t padding = 0;
  void* const placed = make_placed(bytes, 1, answer, padding);
  if (placed) {
    memcpy(placed, at, bytes);
    behind.free(at);
  }
  void* const now = placed ? placed : at;
  tell_made(now, bytes, padding, answer, placed != nullptr);
  return now;
}

void* reallocate_moved(void* before, size_t bytes, const void* frame) noexcept {
  if (bytes == 0) {  // what that does is the allocator's to say
    tell_released(before);
    return told(behind.realloc(moved_objects.take(before), 0), 0, 1, frame);
  }
  const auto plain = [bytes]() noexcept { return behind.malloc(bytes); };
  void* const now =
      asks_to_place(bytes, frame) ? allocate(bytes, 1, frame, plain) : told(plain(), bytes, 1, frame);
  if (!now) return nullptr;
  memcpy(now, before, std::min(bytes, MovedObjects::bytes_of(before)));
  tell_released(before);
  behind.free(moved_objects.take(before));
  return now;
}

}  // namespace hpcrun
