// The waits of a schedule: whose they are, and which tasks are to blame for them.

#include <algorithm>
#include <new>

#include "hpcrun/device/schedule.h"

namespace hpcrun {

namespace {

constexpr uint64_t kForever = ~uint64_t{0};

// A wait that lasts longer is charged as it goes on.
constexpr uint64_t kSettledNs = 100'000'000;

}  // namespace

template <typename T>
T* Schedule::take(T*& free_list) noexcept {
  if (T* taken = free_list) {
    free_list = taken->next;
    return taken;
  }
  void* memory = arena_->allocate(sizeof(T));
  return memory ? new (memory) T : nullptr;
}

void Schedule::add_waiter(Waiter& waiter) noexcept {
  waiter.next = waiters_;
  waiters_ = &waiter;
}

void Schedule::remove_waiter(Waiter& waiter) noexcept {
  Waiter** link = &waiters_;
  while (*link && *link != &waiter) link = &(*link)->next;
  if (!*link) return;
  resolve_waits(kForever, &waiter);
  const uint64_t known = horizon(kForever);
  waiter.timeline.resolve(kForever, [&](uint64_t time) { return idle_before(time, known); });
  while (Task* const task = waiter.reserve.first) {
    waiter.reserve.first = task->next;
    release(task);
  }
  *link = waiter.next;
}

void Schedule::end_wait(Waiter& waiter, const EndedWait& ended) noexcept {
  Wait* const wait = take(free_waits_);
  if (!wait) return;
  wait->next = nullptr;
  wait->waiter = &waiter;
  wait->ended = ended;
  const bool begun = waiter.resolved_begin == ended.time.begin && waiter.resolved_until <= ended.time.end;
  wait->since = begun ? waiter.resolved_until : ended.time.begin;
  wait->parts = begun ? waiter.resolved_parts : PiecedWait{};
  wait->scope.copy_from(waiter.wait.scope);
  (last_wait_ ? last_wait_->next : first_wait_) = wait;
  last_wait_ = wait;
  for (uint16_t i = 0; i < device_count_; ++i)
    if (wait->scope.has_device(i)) devices_[i].waits.add(ended.time.begin, ended.time.end);
}

// Keeps the first `used` of what is there.
bool Schedule::make_scratch(size_t tasks, size_t used) noexcept {
  if (tasks <= scratch_room_) return true;
  const size_t room = std::max(tasks, scratch_room_ * 2 + 64);
  auto* blamed = arena_->allocate_array<BlamedTask>(room);
  auto* pointers = arena_->allocate_array<Task*>(room);
  auto* edges = arena_->allocate_array<TaskEdge>(room * 2);
  if (!blamed || !pointers || !edges) return false;
  std::copy_n(blamed_, used, blamed);
  std::copy_n(blamed_tasks_, used, pointers);
  blamed_ = blamed;
  blamed_tasks_ = pointers;
  edges_ = edges;
  scratch_room_ = room;
  return true;
}

void Schedule::blame(const Scope& scope, Interval time, PiecedWait& parts) noexcept {
  while (time.begin < time.end) {
    const Interval pause = paused_.first_in(time);
    if (time.begin < pause.begin) blame_measured(scope, {time.begin, pause.begin}, parts);
    time.begin = pause.end;
  }
}

void Schedule::blame_measured(const Scope& scope, Interval time, PiecedWait& parts) noexcept {
  size_t count = 0;
  completed_.for_each_in(time, [&](Task* task) {
    if (!scope.has(*task) || !make_scratch(count + 1, count)) return;
    blamed_[count] = {{task->start, task->end}};
    blamed_tasks_[count++] = task;
  });
  parts.add(blame_wait(time, blamed_, count, edges_));
  for (size_t i = 0; i < count; ++i) add_to(blamed_tasks_[i]->idle_cause, blamed_[i].blame);
}

void Schedule::conclude(Wait& wait) noexcept {
  WaitParts parts = wait.parts.parts;
  EndedWait& ended = wait.ended;
  if (ended.may_work) {
    ended.time.end -= parts.wake_latency;
    parts.wake_latency = 0;
  }
  if (ended.time.begin >= ended.time.end) return;
  for (uint16_t i = 0; i < device_count_; ++i) {
    if (!wait.scope.has_device(i)) continue;
    devices_[i].waited.add(ended.time.begin, ended.time.end);
    devices_[i].either.add(ended.time.begin, ended.time.end);
  }
  add_to(ended.cells.cpu_idle, parts.total());
  if (parts.launch_latency) add_to(ended.cells.launch_latency, parts.launch_latency);
  if (parts.gap) add_to(ended.cells.gap, parts.gap);
  if (parts.wake_latency) add_to(ended.cells.wake_latency, parts.wake_latency);
  if (wait.waiter->receive) wait.waiter->receive(wait.waiter->receiver, ended, parts);
}

// Waits that ended by then, or all of one thread.
void Schedule::resolve_waits(uint64_t until, const Waiter* whose) noexcept {
  Wait** link = &first_wait_;
  Wait* last_kept = nullptr;
  while (Wait* wait = *link) {
    if (wait->ended.time.end > until || (whose && wait->waiter != whose)) {
      last_kept = wait;
      link = &wait->next;
      continue;
    }
    blame(wait->scope, {wait->since, wait->ended.time.end}, wait->parts);
    conclude(*wait);
    *link = wait->next;
    wait->next = free_waits_;
    free_waits_ = wait;
  }
  last_wait_ = last_kept;
}

// So that tasks need not be kept as long as a thread waits, where others go on.
void Schedule::resolve_open_waits(uint64_t now, uint64_t until) noexcept {
  for (Waiter* waiter = waiters_; waiter; waiter = waiter->next) {
    const uint64_t begin = waiter->wait.begin.load(std::memory_order_acquire);
    // Its scope is not complete before the interface is called.
    if (!begin || now < begin + kSettledNs || waiter->wait.end.load(std::memory_order_relaxed)) continue;
    if (waiter->resolved_begin != begin) {
      waiter->resolved_begin = waiter->resolved_until = begin;
      waiter->resolved_parts = {};
    }
    if (until <= waiter->resolved_until) continue;
    blame(waiter->wait.scope, {waiter->resolved_until, until}, waiter->resolved_parts);
    waiter->resolved_until = until;
  }
}

}  // namespace hpcrun
