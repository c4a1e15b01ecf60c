#include "hpcrun/heap/allocations.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/heap/allocation_contexts.h"
#include "hpcrun/heap/allocation_hooks.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/heap/heap_hooks.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/signals_blocked.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/capture.h"

// Null if libprof-heap.so is not loaded. A look-up by name would call the program's allocator if it
// fails.
extern "C" hpcrun::HeapHooks hpcrun_heap_hooks __attribute__((weak));

namespace hpcrun {

namespace {

constexpr char kNotLoaded[] = "Allocations are reported by address only: libprof-heap.so was not loaded.";
constexpr char kOwnAllocator[] =
    "Allocations are reported by address only: the program has its own allocator (malloc).";
constexpr char kNotPlaced[] = "Allocations were not re-laid out: libprof-heap.so was not loaded.";
constexpr char kPlacedByOthers[] =
    "Allocations were not re-laid out: the program has its own allocator (malloc).";
constexpr char kTooManyPaths[] =
    "Some allocations are reported by address only: threads allocated more often, or by more "
    "call paths, than prof can follow.";

HeapHooks* hooks = nullptr;
uint16_t left_out[2];  // modules whose frames are removed: the runtime and the library
constinit std::atomic<bool> knows_all_paths{true};
constinit std::atomic<bool> is_started{false};

uint64_t hash_of(const FrameKey* frames, uint32_t depth) noexcept {
  uint64_t hash = depth;
  for (uint32_t i = 0; i < depth; ++i) {
    hash = (hash ^ frames[i]) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash ? hash : 1;
}

// Walks the stack, and adds the context. The path ends in the function that called the allocator.
[[gnu::noinline]] AllocationContext* walk_context(ThreadState& thread, const AllocationCall& call) noexcept {
  AllocationContexts& contexts = *allocation_slot.of(thread);
  ucontext_t here;
  capture(here);
  const Stack stack = thread.unwinder.walk(here, contexts.record);
  uint32_t first = 0;
  while (first < stack.depth && std::ranges::count(left_out, frame_module(stack.frames[first]))) ++first;
  const uint32_t depth = stack.depth - first;
  const NodeId node = depth ? thread.tree.insert(stack.frames + first, depth) : kNoNode;
  if (node == kNoNode) return nullptr;
  PlanEntries planned{};
  if (allocation_hooks.planned) planned = allocation_hooks.planned(stack.frames + first, depth);
  AllocationContext& context = contexts.add(call, hash_of(stack.frames + first, depth), node, planned);
  if (context.outer()) {
    hooks->placed_calls.learn_distance(call.caller, context.outer_distance());
    hooks->frequent.learn_outer(call.caller, context.outer_distance());
  }
  return &context;
}

[[gnu::noinline]] AllocationContext* learn_context(ThreadState& thread, const AllocationCall& call) noexcept {
  const SignalsBlocked blocked;
  const ThreadBusy busy(thread);
  if (!allocation_slot.of(thread))
    allocation_slot.set(thread,
                        static_cast<AllocationContexts*>(thread.arena.allocate(sizeof(AllocationContexts))));
  AllocationContexts* const contexts = allocation_slot.of(thread);
  if (!contexts) return nullptr;
  const uint64_t begin_ns = monotonic_ns();
  AllocationContext* const context = walk_context(thread, call);
  contexts->pace.took(monotonic_ns() - begin_ns);
  return context;
}

// Limits alignments: larger ones do not concern cache lines.
uint32_t as_align(size_t align) noexcept {
  return static_cast<uint32_t>(std::min<size_t>(align, kPageBytes));
}

// True if writes to pages are counted: each allocation's site must be known.
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

}  // namespace

SiteId site_of(ThreadState& thread, uint64_t bytes, size_t align, const void* frame, Walks walks) noexcept {
  const AllocationCall call = call_at(frame, thread.unwinder.stack());
  AllocationContexts* const contexts = allocation_slot.of(thread);
  AllocationContext* context = contexts ? contexts->find(call) : nullptr;
  if (!context && walks == Walks::AtPace && !may_walk(contexts)) return kNoSite;
  if (!context && !(context = learn_context(thread, call))) return kNoSite;
  LateSites& late = allocation_slot.of(thread)->sites;
  SiteId site = late.find(context->path(), bytes);
  if (site == kNoSite) {
    site = heap.sites.number_of(context->path(), {.thread = thread.index,
                                                  .node = context->node(),
                                                  .bytes = bytes,
                                                  .align = as_align(align),
                                                  .caller = call.caller,
                                                  .outer = context->outer()});
    late.keep(context->path(), bytes, site);
    if (allocation_hooks.site) allocation_hooks.site(site, context->planned());
  }
  return site;
}

void note_allocation(uint64_t begin, uint64_t bytes, SiteId site) noexcept {
  if (!hooks->allocated.load(std::memory_order_relaxed)) return;
  hooks->known.add(begin);
  heap.map.add(begin, bytes, site);
}

namespace {

void allocated(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  if (!is_sampling_this_copy()) return;
  const auto made = allocation_hooks.made.load(std::memory_order_acquire);
  const bool is_closed = made && made(at, bytes, caller_at(frame));
  if (!is_closed && !is_each_counted()) hooks->frequent.count(bytes, frame);
  // If pages are isolated at random, sites are not needed.
  if (!is_each_counted() && !hooks->frequent.has_reports(bytes)) return;
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return;
  const SiteId site = site_of(*thread, std::max<size_t>(bytes, 1), align, frame, Walks::AtPace);
  if (site != kNoSite) note_allocation(reinterpret_cast<uint64_t>(at), bytes, site);
}

void released(void* at) noexcept {
  if (!is_sampling_this_copy()) return;
  const auto begin = reinterpret_cast<uint64_t>(at);
  if (const auto hook = allocation_hooks.released.load(std::memory_order_acquire)) hook(begin);
  if (!heap.map.holds(begin)) return;
  hooks->known.remove(begin);
  if (heap.map.remove(begin)) end_object(begin);
}

void mapped(void* at, size_t bytes, const void* frame) noexcept {
  constexpr size_t kLargeMapping = 1 << 20;
  if (!is_sampling_this_copy()) return;
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return;
  // Small mappings may be made by an allocator; virtual machines make many.
  const SiteId site =
      site_of(*thread, bytes, kPageBytes, frame, bytes < kLargeMapping ? Walks::AtPace : Walks::All);
  if (site != kNoSite) heap.mappings.add(reinterpret_cast<uint64_t>(at), bytes, site);
}

void unmapped(void* at) noexcept {
  if (!is_sampling_this_copy()) return;
  if (const uint64_t number = heap.mappings.remove(reinterpret_cast<uint64_t>(at)))
    process_state.file.write_object_end(number, monotonic_ns());
}

// True if calls of malloc reach the library; in a program with its own allocator they do not. Determined
// without a call, which would change where the program's allocations lie.
bool sees_calls() noexcept {
  Dl_info of_malloc, of_library;
  return dladdr(reinterpret_cast<const void*>(&malloc), &of_malloc) && dladdr(hooks, &of_library) &&
         of_malloc.dli_fbase == of_library.dli_fbase;
}

enum class Calls { NotLooked, Seen, NotLoaded, OwnAllocator };

// Looks once, because in a forked child the loader and the allocator may not be ready.
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
  // Pages are isolated at random, or their writes are counted.
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

void start() noexcept {
  const bool follows = heap.is_followed.load(std::memory_order_relaxed);
  const bool places = heap.is_placed.load(std::memory_order_relaxed);
  if ((!follows && !places) || !heap.sites.start()) return;
  if (follows && (!heap.map.start() || !heap.mappings.start() || !heap.recorded.start())) return;
  const Calls calls = find_calls();
  note_unseen(calls, follows, places);
  if (!hooks) return;
  mark_process();
  if (follows) follow();
  is_started.store(calls == Calls::Seen, std::memory_order_release);
}

void begin_thread() noexcept {
  if (hooks) hooks->frequent.begin_thread();
}

// From the second thread on, a search for contention also follows small allocations that are made frequently
// (frequent_calls.h).
void begin_threads() noexcept {
  if (!hooks) return;
  const bool is_searched_at_need = process_state.search_descriptor != kNoDescriptor;
  if (!hooks->frequent.begin_threads(!is_searched_at_need)) return;
  populate_own_memory(&hooks->known, sizeof hooks->known);
  heap.sites.populate();
}

void finish() noexcept {
  heap.is_followed.store(false, std::memory_order_relaxed);
  heap.is_placed.store(false, std::memory_order_relaxed);
  is_started.store(false, std::memory_order_relaxed);
  if (!hooks) return;
  // A program that never had a second thread has no contention.
  const bool knows_all = knows_all_paths.exchange(true) && !hooks->frequent.has_passed_over();
  if (!knows_all && process_state.thread_count.load(std::memory_order_relaxed) > 1)
    process_state.file.write_note(kTooManyPaths, NoteKind::Contention);
  heap.calls.store(nullptr, std::memory_order_relaxed);
  hooks->allocated.store(nullptr, std::memory_order_relaxed);
  hooks->mapped.store(nullptr, std::memory_order_relaxed);
  hooks->released.store(nullptr, std::memory_order_relaxed);
  hooks->unmapped.store(nullptr, std::memory_order_relaxed);
}

void reset_after_fork() noexcept {
  knows_all_paths.store(true, std::memory_order_relaxed);
  finish();
  reset_process_mark_after_fork();
  heap.map.reset_after_fork();
  heap.mappings.reset_after_fork();
  heap.sites.reset_after_fork();
  heap.recorded.reset_after_fork();
}

}  // namespace

HeapHooks* find_heap_hooks() noexcept {
  return &hpcrun_heap_hooks;
}

bool sees_allocations() noexcept {
  return is_started.load(std::memory_order_acquire);
}

constexpr Hooks kHeapHooks{.kind = &allocation_slot,
                           .start = start,
                           .finish = finish,
                           .fork_child = reset_after_fork,
                           .second_thread = begin_threads,
                           .thread_start = begin_thread};

}  // namespace hpcrun
