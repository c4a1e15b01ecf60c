// Resolves the waits of a schedule: the threads that waited, and the tasks to blame.

#include <algorithm>
#include <new>

#include "hpcrun/device/schedule.h"

namespace hpcrun {

namespace {

constexpr uint64_t kForever = ~uint64_t{0};

// Longer waits are charged while they are in progress.
constexpr uint64_t kSettledNs = 100'000'000;

// Accuracy of the devices' clocks.
constexpr uint64_t kClockErrorNs = 20'000;

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
  wait->work_before = begun ? std::min(waiter.resolved_work, ended.worked) : 0;
  wait->parts = begun ? waiter.resolved_parts : PiecedWait{};
  wait->scope.copy_from(waiter.wait.scope);
  (last_wait_ ? last_wait_->next : first_wait_) = wait;
  last_wait_ = wait;
  const uint64_t length = ended.time.end - std::min(ended.time.begin, ended.time.end);
  const uint64_t worked = ended.may_work && !waits_spin() ? std::min(ended.worked, length) : 0;
  for (uint16_t i = 0; i < device_count_; ++i)
    if (wait->scope.has_device(i)) devices_[i].waits.add(ended.time.begin + worked, ended.time.end);
}

// Grows the scratch arrays, keeping the first `used` entries.
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

void Schedule::note_waited(const Scope& scope, Interval time) noexcept {
  for (uint16_t i = 0; i < device_count_; ++i) {
    if (!scope.has_device(i)) continue;
    devices_[i].waited.add(time.begin, time.end);
    devices_[i].either.add(time.begin, time.end);
  }
}

// Blames tasks for the part `time` of a call that may work and ended at `call_end`; the thread worked for
// `worked` of it. If the call waited for a task, that task ended before the call: the wait lasted until then,
// and no longer than the thread did not work. If drivers spin while they wait, a thread works all the time.
// Sets `last_active` if it waited.
void Schedule::blame_working(const Scope& scope, uint64_t call_end, Interval time, uint64_t worked,
                             PiecedWait& parts, uint64_t& last_active) noexcept {
  uint64_t last = 0;
  completed_.for_each_in(time, [&](const Task* task) {
    if (scope.has(*task) && task->end <= call_end + std::min(kClockErrorNs, ~call_end))
      last = std::max(last, std::min(task->end, time.end));
  });
  if (!last) return;
  if (waits_spin()) worked = 0;
  const uint64_t length = time.end - time.begin;
  const uint64_t waited = std::min(last - time.begin, length - std::min(length, worked));
  if (!waited) return;
  const Interval wait{last - waited, last};
  blame(scope, wait, parts);
  note_waited(scope, wait);
  last_active = last;
}

// Learns whether waiting threads keep a processor, as with drivers that poll the device.
void Schedule::learn_habit(const EndedWait& wait, const WaitParts& parts) noexcept {
  const uint64_t length = wait.time.end - wait.time.begin;
  if (wait.may_work || 2 * parts.cause < length) return;
  waited_ += length;
  spun_ += std::min(wait.worked, length);
}

void Schedule::conclude(Wait& wait, uint64_t last_active) noexcept {
  const WaitParts& parts = wait.parts.parts;
  EndedWait& ended = wait.ended;
  if (ended.may_work) {
    ended.time = {last_active - std::min(last_active, parts.total()), last_active};
  } else {
    note_waited(wait.scope, ended.time);
    learn_habit(ended, parts);
  }
  if (ended.time.begin >= ended.time.end) return;
  add_to(ended.cells.cpu_idle, parts.total());
  if (parts.launch_latency) add_to(ended.cells.launch_latency, parts.launch_latency);
  if (parts.gap) add_to(ended.cells.gap, parts.gap);
  if (parts.wake_latency) add_to(ended.cells.wake_latency, parts.wake_latency);
  if (wait.waiter->receive) wait.waiter->receive(wait.waiter->receiver, ended, parts);
}

// Resolves waits that ended by then, or all of one thread.
void Schedule::resolve_waits(uint64_t until, const Waiter* whose) noexcept {
  Wait** link = &first_wait_;
  Wait* last_kept = nullptr;
  while (Wait* wait = *link) {
    if (wait->ended.time.end > until || (whose && wait->waiter != whose)) {
      last_kept = wait;
      link = &wait->next;
      continue;
    }
    const Interval rest{wait->since, wait->ended.time.end};
    uint64_t last_active = wait->since;
    if (wait->ended.may_work)
      blame_working(wait->scope, wait->ended.time.end, rest, wait->ended.worked - wait->work_before,
                    wait->parts, last_active);
    else
      blame(wait->scope, rest, wait->parts);
    conclude(*wait, last_active);
    *link = wait->next;
    wait->next = free_waits_;
    free_waits_ = wait;
  }
  last_wait_ = last_kept;
}

// Resolves open waits up to now, so that tasks are not kept as long as a thread waits while others continue.
void Schedule::resolve_open_waits(uint64_t now, uint64_t until) noexcept {
  for (Waiter* waiter = waiters_; waiter; waiter = waiter->next) {
    const uint64_t begin = waiter->wait.begin.load(std::memory_order_acquire);
    // The scope is complete once the interface is called.
    if (!begin || now < begin + kSettledNs || waiter->wait.end.load(std::memory_order_relaxed)) continue;
    if (waiter->resolved_begin != begin) {
      waiter->resolved_begin = waiter->resolved_until = begin;
      waiter->resolved_parts = {};
      waiter->resolved_work = 0;
    }
    if (until <= waiter->resolved_until) continue;
    const Interval piece{waiter->resolved_until, until};
    if (waiter->wait.may_work.load(std::memory_order_relaxed)) {
      const uint64_t work = waited_so_far(*waiter, begin, now).begin - begin;
      const uint64_t worked = std::min(piece.end - piece.begin, work - std::min(work, waiter->resolved_work));
      uint64_t last_active = 0;
      blame_working(waiter->wait.scope, kForever, piece, worked, waiter->resolved_parts, last_active);
      waiter->resolved_work += worked;
    } else {
      blame(waiter->wait.scope, piece, waiter->resolved_parts);
    }
    waiter->resolved_until = until;
  }
}

}  // namespace hpcrun
