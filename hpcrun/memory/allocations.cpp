// What happens when the program allocates and releases: in its own calls, outside of handlers.

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/memory/allocation_contexts.h"
#include "hpcrun/memory/counted_writes.h"
#include "hpcrun/memory/heap.h"
#include "hpcrun/memory/heap_hooks.h"
#include "hpcrun/memory/isolating.h"
#include "hpcrun/memory/observer.h"
#include "hpcrun/memory/placing.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/signals_blocked.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/capture.h"

// Null if libhpcrun-memory.so is not loaded. A look-up by name would allocate where it fails, by the
// program's allocator.
extern "C" hpcrun::HeapHooks hpcrun_heap_hooks __attribute__((weak));

namespace hpcrun {

namespace {

constexpr char kNotLoaded[] =
    "Contention in allocations is told by addresses alone: libhpcrun-memory.so was not loaded.";
constexpr char kOwnAllocator[] =
    "Contention in allocations is told by addresses alone: the program brings an allocator of its own "
    "(malloc).";
constexpr char kNotPlaced[] =
    "Allocations were left where they are: libhpcrun-memory.so, which lays them out anew, was not loaded.";
constexpr char kPlacedByOthers[] =
    "Allocations were left where they are: the program brings an allocator of its own (malloc).";
constexpr char kTooManyPaths[] =
    "Contention in some allocations is told by addresses alone: threads allocated more often, or by more "
    "call "
    "paths, than can be followed.";

HeapHooks* hooks = nullptr;
uint16_t left_out[2];  // modules with our frames: the runtime's and the library's
constinit std::atomic<bool> knows_all_paths{true};

uint64_t hash_of(const FrameKey* frames, uint32_t depth) noexcept {
  uint64_t hash = depth;
  for (uint32_t i = 0; i < depth; ++i) {
    hash = (hash ^ frames[i]) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash ? hash : 1;
}

// The path ends in the function that called the allocator.
[[gnu::noinline]] AllocationContext* walk_context(ThreadState& thread, const AllocationCall& call) noexcept {
  AllocationContexts& contexts = *thread.allocations;
  ucontext_t here;
  capture(here);
  const Stack stack = thread.unwinder.walk(here, contexts.record);
  uint32_t first = 0;
  while (first < stack.depth && std::ranges::count(left_out, frame_module(stack.frames[first]))) ++first;
  const uint32_t depth = stack.depth - first;
  const NodeId node = depth ? thread.tree.insert(stack.frames + first, depth) : kNoNode;
  if (node == kNoNode) return nullptr;
  AllocationContext& context = contexts.add(call, hash_of(stack.frames + first, depth), node,
                                            planned_entries(stack.frames + first, depth));
  if (context.outer()) {
    hooks->placed_calls.learn_distance(call.caller, context.outer_distance());
    hooks->frequent.learn_outer(call.caller, context.outer_distance());
  }
  return &context;
}

[[gnu::noinline]] AllocationContext* learn_context(ThreadState& thread, const AllocationCall& call) noexcept {
  const SignalsBlocked blocked;
  const ThreadBusy busy(thread);
  if (!thread.allocations)
    thread.allocations = static_cast<AllocationContexts*>(thread.arena.allocate(sizeof(AllocationContexts)));
  if (!thread.allocations) return nullptr;
  const uint64_t begin_ns = monotonic_ns();
  AllocationContext* const context = walk_context(thread, call);
  thread.allocations->pace.took(monotonic_ns() - begin_ns);
  return context;
}

// Alignments beyond that are no matter of cache lines.
uint32_t as_align(size_t align) noexcept {
  return static_cast<uint32_t>(std::min<size_t>(align, kPageBytes));
}

// True if pages are counted: where each allocation was made has to be known.
bool is_each_counted() noexcept {
  return process_state.config.contention_by_pages;
}

const WalkPace::Budget& walks() noexcept {
  if (is_alone()) return WalkPace::kAlone;
  return hooks->frequent.is_searched() ? WalkPace::kSearched : WalkPace::kAtRest;
}

bool may_walk(AllocationContexts* contexts) noexcept {
  if (!contexts || contexts->pace.takes(monotonic_ns, walks()) || is_each_counted()) return true;
  knows_all_paths.store(false, std::memory_order_relaxed);
  return false;
}

enum class Walks { All, AtPace };

SiteId site_of(ThreadState& thread, uint64_t bytes, size_t align, const void* frame,
               Walks walks = Walks::All) noexcept {
  const AllocationCall call = call_at(frame, thread.unwinder.stack());
  AllocationContext* context = thread.allocations ? thread.allocations->find(call) : nullptr;
  if (!context && walks == Walks::AtPace && !may_walk(thread.allocations)) return kNoSite;
  if (!context && !(context = learn_context(thread, call))) return kNoSite;
  LateSites& late = thread.allocations->sites;
  SiteId site = late.find(context->path(), bytes);
  if (site == kNoSite) {
    site = heap.sites.number_of(context->path(), {.thread = thread.index,
                                                  .node = context->node(),
                                                  .bytes = bytes,
                                                  .align = as_align(align),
                                                  .caller = call.caller,
                                                  .outer = context->outer()});
    late.keep(context->path(), bytes, site);
    decide_by_plan(site, context->planned());
  }
  return site;
}

void note(uint64_t begin, uint64_t bytes, SiteId site) noexcept {
  hooks->known.add(begin);
  heap.map.add(begin, bytes, site);
}

void allocated(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  if (!is_sampling_this_copy()) return;
  const bool is_closed = isolates_pages() && tell_isolation(at, bytes, caller_at(frame));
  if (!is_closed && !is_each_counted()) hooks->frequent.count(bytes, frame);
  // Pages that are chosen among all allocations need not know where each was made.
  if (!is_each_counted() && !hooks->frequent.has_reports(bytes)) return;
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return;
  const SiteId site = site_of(*thread, std::max<size_t>(bytes, 1), align, frame, Walks::AtPace);
  if (site != kNoSite) note(reinterpret_cast<uint64_t>(at), bytes, site);
}

// What comes in the allocation's place has nothing to do with it.
void tell_written_in(uint64_t begin) noexcept {
  FoundAllocation found;
  if (heap.map.find(begin, found) && begin - found.begin < AllocationMap::kGranule)
    tell_written_lines(begin, begin + heap.sites.site(found.site).bytes);
}

void released(void* at) noexcept {
  if (!is_sampling_this_copy()) return;
  const auto begin = reinterpret_cast<uint64_t>(at);
  if (finds_written_lines()) tell_written_in(begin);
  if (!heap.map.holds(begin)) return;
  hooks->known.remove(begin);
  if (heap.map.remove(begin)) end_object(begin);
}

PlaceAnswer place(size_t bytes, size_t align, const void* frame) noexcept {
  if (!is_sampling_this_copy()) return {};
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return {};
  const SiteId site = site_of(*thread, std::max<size_t>(bytes, 1), align, frame);
  const Placement placement = placing.sites.of(site).placement;
  if (placement == kAsAllocated) return {0, 0, 0, site};
  return {static_cast<uint16_t>(placement.align), static_cast<uint16_t>(placement.offset),
          static_cast<uint16_t>(placement.pad), site};
}

// The file is told at once of the first ones, so that what is rare is known at a kill.
void count_placed(ThreadState& thread, size_t padding) noexcept {
  constexpr uint64_t kOften = 64;
  AllocationContexts& own = *thread.allocations;
  ++own.placed;
  own.padding += padding;
  const std::atomic<uint64_t>& told = process_state.file.counter(Counter::PlacedAllocations);
  if (own.placed >= kOften || told.load(std::memory_order_relaxed) < kOften) tell_placed(thread);
}

void made(void* at, size_t bytes, size_t padding, PlaceAnswer answer, PlaceOutcome outcome) noexcept {
  if (!is_sampling_this_copy() || answer.site == kNoSite) return;
  const auto begin = reinterpret_cast<uint64_t>(at);
  if (hooks->allocated.load(std::memory_order_relaxed)) note(begin, bytes, answer.site);
  if (outcome == PlaceOutcome::Placed) {
    if (ThreadState* const thread = this_thread(); thread && thread->allocations)
      count_placed(*thread, padding);
  } else if (outcome == PlaceOutcome::Refused) {
    process_state.file.counter(Counter::PlacementsRefused).fetch_add(1, std::memory_order_relaxed);
  }
  if (placing.sites.of(answer.site).has_locks) add_contended(begin, bytes);
}

void mapped(void* at, size_t bytes, const void* frame) noexcept {
  constexpr size_t kLargeMapping = 1 << 20;
  if (!is_sampling_this_copy()) return;
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return;
  // Small ones may be an allocator's own: a virtual machine makes them all the time.
  const SiteId site =
      site_of(*thread, bytes, kPageBytes, frame, bytes < kLargeMapping ? Walks::AtPace : Walks::All);
  if (site != kNoSite) heap.mappings.add(reinterpret_cast<uint64_t>(at), bytes, site);
}

void unmapped(void* at) noexcept {
  if (!is_sampling_this_copy()) return;
  if (const uint64_t number = heap.mappings.remove(reinterpret_cast<uint64_t>(at)))
    process_state.file.write_object_end(number, monotonic_ns());
}

// True if calls of malloc come to the library: a program with an allocator of its own has them come there. No
// call is made to find out, which would change where the program's own allocations lie.
bool sees_calls() noexcept {
  Dl_info of_malloc, of_library;
  return dladdr(reinterpret_cast<const void*>(&malloc), &of_malloc) && dladdr(hooks, &of_library) &&
         of_malloc.dli_fbase == of_library.dli_fbase;
}

enum class Calls { NotLooked, Seen, NotLoaded, OwnAllocator };

// Once: in a forked child neither the loader nor the allocator need be ready yet.
Calls find_calls() noexcept {
  static Calls found = Calls::NotLooked;
  if (found != Calls::NotLooked) return found;
  hooks = find_heap_hooks();
  if (!hooks) return found = Calls::NotLoaded;
  left_out[0] = frame_module(frame_of(reinterpret_cast<const void*>(&object_at)));
  left_out[1] = frame_module(frame_of(hooks));
  return found = sees_calls() ? Calls::Seen : Calls::OwnAllocator;
}

void note_unseen(Calls calls, bool follows, bool places) noexcept {
  if (calls == Calls::Seen) return;
  const bool is_loaded = calls != Calls::NotLoaded;
  if (follows) process_state.file.write_note(is_loaded ? kOwnAllocator : kNotLoaded, NoteKind::Contention);
  if (places) process_state.file.write_note(is_loaded ? kPlacedByOthers : kNotPlaced);
}

Reports wanted_reports() noexcept {
  // Pages are chosen among all allocations, or counted.
  if (process_state.config.isolates_always || is_each_counted()) return Reports::All;
  return process_state.config.repairs() ? Reports::AtNeed : Reports::Searching;
}

void follow() noexcept {
  hooks->frequent.begin(wanted_reports());
  heap.calls.store(&hooks->frequent, std::memory_order_release);
  hooks->released.store(released, std::memory_order_relaxed);
  hooks->unmapped.store(unmapped, std::memory_order_relaxed);
  hooks->mapped.store(mapped, std::memory_order_relaxed);
  hooks->allocated.store(allocated, std::memory_order_release);
}

}  // namespace

HeapHooks* find_heap_hooks() noexcept {
  return &hpcrun_heap_hooks;
}

void start_heap() noexcept {
  const bool follows =
      process_state.memory_observer.load(std::memory_order_relaxed) != nullptr || finds_written_lines();
  const bool places = may_place();
  if ((!follows && !places) || !heap.sites.start()) return;
  if (follows && (!heap.map.start() || !heap.mappings.start() || !heap.told.start())) return;
  const Calls calls = find_calls();
  note_unseen(calls, follows, places);
  if (!hooks) return;
  mark_process();
  if (follows) follow();
  if (!places || calls != Calls::Seen || !placing.sites.start()) return;
  hooks->made.store(made, std::memory_order_relaxed);
  placing.answer.store(place, std::memory_order_release);
  if (placing.has_plan) begin_to_place();
}

void begin_thread_of_heap() noexcept {
  if (hooks) hooks->frequent.begin_thread();
}

void begin_threads_of_heap() noexcept {
  if (!hooks) return;
  const bool is_searched_at_need = process_state.search_descriptor != kNoDescriptor;
  if (!hooks->frequent.begin_threads(!is_searched_at_need)) return;
  populate_own_memory(&hooks->known, sizeof hooks->known);
  heap.sites.populate();
  populate_memory();
}

void finish_heap() noexcept {
  if (!hooks) return;
  // A program that never had a second thread has no contention to be told.
  const bool knows_all = knows_all_paths.exchange(true) && !hooks->frequent.has_passed_over();
  if (!knows_all && process_state.thread_count.load(std::memory_order_relaxed) > 1)
    process_state.file.write_note(kTooManyPaths, NoteKind::Contention);
  heap.calls.store(nullptr, std::memory_order_relaxed);
  placing.answer.store(nullptr, std::memory_order_relaxed);
  hooks->place.store(nullptr, std::memory_order_relaxed);
  hooks->made.store(nullptr, std::memory_order_relaxed);
  hooks->allocated.store(nullptr, std::memory_order_relaxed);
  hooks->mapped.store(nullptr, std::memory_order_relaxed);
  hooks->released.store(nullptr, std::memory_order_relaxed);
  hooks->unmapped.store(nullptr, std::memory_order_relaxed);
}

void forget_heap() noexcept {
  knows_all_paths.store(true, std::memory_order_relaxed);
  finish_heap();
  forget_process_mark();
  forget_placing();
  heap.map.forget();
  heap.mappings.forget();
  heap.sites.forget();
  heap.told.forget();
}

}  // namespace hpcrun
