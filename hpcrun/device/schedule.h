#pragma once
// What the devices of a process did and who waited for them, and from both who is to blame: tasks for the
// time that threads waited, calling contexts for the time that devices idled (thesis, 2.6). Tasks are known
// when they have completed, in any order and as late as the interface likes; so waits and the pieces of
// threads' time are kept until all that was submitted before their end is known.
//
// Knows no thread, tree or clock: it is told times, and cells to add to. One caller at a time. Times are in
// ns of CLOCK_MONOTONIC. Not for handlers, though it allocates nothing but from its arena.

#include <atomic>
#include <cstdint>

#include "hpcrun/device/completed_tasks.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/interval_history.h"
#include "hpcrun/device/timeline.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/model/blame.h"

namespace hpcrun {

// Tasks that a thread may submit without asking anybody. Its own.
struct TaskReserve {
  Task* first = nullptr;
};

// What a wait is for. The thread that waits adds while others may read.
class Scope {
 public:
  void clear() noexcept;
  void copy_from(const Scope& other) noexcept;
  void add_device(DeviceIndex device) noexcept;
  void add_queue(DeviceIndex device, QueueIndex queue) noexcept;
  void add_task(const Task& task, bool in_order) noexcept;

  bool has(const Task& task) const noexcept;
  bool has_device(DeviceIndex device) const noexcept;

 private:
  // More single queues and tasks stand for the whole of their devices.
  static constexpr uint32_t kMostParts = 16;
  struct Part {
    QueueIndex queue;
    uint64_t first_serial;
    uint64_t last_serial;
  };
  void add(DeviceIndex device, const Part& part) noexcept;

  std::atomic<uint32_t> devices_{0};  // whole ones, by bit
  std::atomic<uint32_t> touched_{0};  // of which something is waited for
  std::atomic<uint32_t> part_count_{0};
  Part parts_[kMostParts];
};

// A call that waits. The thread sets it, others may look.
struct OpenDeviceWait {
  std::atomic<bool> may_work{false};   // CallKind::Block
  std::atomic<uint64_t> cpu_begin{0};  // of such a call: the thread's CPU time as it began
  std::atomic<uint64_t> begin{0};      // 0: there is none
  std::atomic<uint64_t> end{0};        // 0: not known yet
  Scope scope;
};

// Where the parts of a wait are added.
struct WaitCells {
  ValueCell* cpu_idle;
  ValueCell* launch_latency;
  ValueCell* gap;
  ValueCell* wake_latency;
};

struct EndedWait {
  Interval time;
  bool may_work;    // CallKind::Block: it waited while the thread did not work, and until a task ended
  uint64_t worked;  // ns of it in which the thread had a processor, or was kept from one by others
  WaitCells cells;
  uint32_t node;  // handed to the receiver
};

// A thread as the schedule sees it; the caller's.
struct Waiter {
  Timeline timeline;
  OpenDeviceWait wait;
  TaskReserve reserve;
  Waiter* next = nullptr;

  // The schedule's: how far an open wait is resolved already, and to what.
  uint64_t resolved_begin = 0;  // of which wait
  uint64_t resolved_until = 0;
  uint64_t resolved_work = 0;  // how much of the thread's CPU time was in that
  PiecedWait resolved_parts;

  // The thread's CPU time until now, in ns, asked by any thread while a call is open that may work.
  uint64_t (*cpu_time)(void* receiver) = nullptr;

  // Called with each wait of the thread once its parts are known.
  void (*receive)(void* receiver, const EndedWait& wait, const WaitParts& parts) = nullptr;
  void* receiver = nullptr;
};

// Since when it is used, and sums until now.
struct DeviceTotals {
  uint64_t first_use = 0;
  uint64_t busy = 0;
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t overlap = 0;
  uint64_t cpu_waits = 0;
  uint64_t occupied = 0;  // busy, or another process had something to do
  uint64_t paused = 0;    // since then; in none of the times above
  uint64_t completed = 0;
  uint64_t incomplete = 0;       // records without an end, and tasks under way
  uint64_t under_way_since = 0;  // nothing completed since then, and a task is under way; 0: none is
};

class Schedule {
 public:
  DeviceActivity activity;

  // The arena is not owned.
  void attach(Arena& arena) noexcept {
    arena_ = &arena;
    paused_.attach(arena);
  }

  void add_device(DeviceIndex device, uint64_t now) noexcept;

  // nullptr: no memory. `now` not before that of any other call.
  Task* submit(DeviceIndex device, QueueIndex queue, TaskKind kind, uint64_t now) noexcept;
  // Another of the same launch, in its place of the order.
  Task* submit_part(const Task& launch, TaskKind kind) noexcept;

  // submit() by any thread at any time, without waiting for the one caller of all else. nullptr: the reserve
  // is used up, or nothing is under way for the device; then the thread has to be that caller. `ready` sets
  // what else is to be known of the task, before others see it.
  template <typename Ready>
  Task* submit_at_once(TaskReserve& reserve, DeviceIndex device, QueueIndex queue, TaskKind kind,
                       uint64_t now, Ready ready) noexcept {
    Task* const task = reserve.first;
    if (!task || !add_to_those_under_way(devices_[device])) return nullptr;
    reserve.first = task->next;
    begin(*task, device, queue, kind, now);
    ready(*task);
    hand_in(*task);
    return task;
  }
  void fill(TaskReserve& reserve) noexcept;
  bool is_under_way(const Task* task) noexcept;  // a pointer that is none is allowed
  void discard(Task* task) noexcept;
  // The record was incomplete.
  void lose(Task* task) noexcept;

  // Sets the times, made consistent, and how much of them no thread of the process waited. After it the task
  // belongs to the schedule.
  uint64_t complete(Task* task, uint64_t start, uint64_t end, uint64_t now) noexcept;

  void add_waiter(Waiter& waiter) noexcept;
  // Of what it waited for and did, what is known counts. It is the caller's again.
  void remove_waiter(Waiter& waiter) noexcept;

  // The waiter's open wait has ended like this. Its scope is copied.
  void end_wait(Waiter& waiter, const EndedWait& wait) noexcept;

  // Resolves what can be known by now.
  void advance(uint64_t now) noexcept;
  // Is there so much to resolve that it is time to?
  bool is_due(uint64_t now) const noexcept;
  // At the end: all that is pending, by what is known.
  void finish(uint64_t now) noexcept;

  // Measuring was paused: nobody is to blame for what devices and threads did then. Before the next advance()
  // beyond its end, and before a device is added in it; pieces may overlap.
  void add_pause(uint64_t begin, uint64_t end) noexcept;
  bool was_paused(uint64_t time) const noexcept { return paused_.covered(time, time + 1) != 0; }

  // Another process had something to do for the device, or waited for it. Before the next advance() beyond
  // its end.
  void add_others_work(DeviceIndex device, uint64_t begin, uint64_t end) noexcept;
  void add_others_wait(DeviceIndex device, uint64_t begin, uint64_t end) noexcept;

  // Before this everything is known that will be. A task that was active before `now` was submitted before.
  uint64_t horizon(uint64_t now) noexcept {
    admit_tasks();
    return first_under_way_ && first_under_way_->submit < now ? first_under_way_->submit : now;
  }

  // Tasks that were submitted and have not completed, and when the last one ended.
  uint32_t under_way(DeviceIndex device) const noexcept {
    return devices_[device].under_way.load(std::memory_order_acquire);
  }
  uint64_t last_end(DeviceIndex device) const noexcept { return devices_[device].last_end; }

  DeviceTotals totals(DeviceIndex device) const noexcept;
  // See DeviceTotals.
  uint64_t under_way_since(DeviceIndex device) const noexcept;

 private:
  struct Device {
    uint64_t first_use = 0;
    uint64_t paused_before = 0;  // its first use
    uint64_t last_end = 0;       // of a task
    uint64_t occupied_since =
        0;  // when the first of the tasks was submitted that were always followed by one
    // Each has pauses as well, so that they are not counted twice, nor as idleness.
    IntervalHistory busy;      // a task of ours was active
    IntervalHistory occupied;  // the same, or another process had something to do
    IntervalHistory kernels;
    IntervalHistory copies;
    IntervalHistory waits;   // a thread was in a call that waits
    IntervalHistory waited;  // a thread waited
    IntervalHistory either;  // busy or waited

    template <typename Use>
    void for_each_history(Use use) noexcept {
      for (IntervalHistory* history : {&busy, &occupied, &kernels, &copies, &waits, &waited, &either})
        use(*history);
    }
    uint64_t completed = 0;
    uint64_t lost = 0;
    std::atomic<uint32_t> under_way{0};
  };
  struct Wait {
    Wait* next;
    Waiter* waiter;
    EndedWait ended;
    uint64_t since;        // up to where it is resolved
    uint64_t work_before;  // how much of its work was before that
    PiecedWait parts;
    Scope scope;
  };

  template <typename T>
  T* take(T*& free_list) noexcept;
  Task* take_task() noexcept;
  void begin(Task& task, DeviceIndex device, QueueIndex queue, TaskKind kind, uint64_t now) noexcept;
  static bool add_to_those_under_way(Device& device) noexcept;
  void hand_in(Task& task) noexcept;
  void admit_tasks() noexcept;
  void link_under_way(Task* task) noexcept;
  void release(Task* task) noexcept;
  void unlink_under_way(Task* task) noexcept;
  uint64_t time_without_waits(const Task& task, uint64_t now) const noexcept;
  Interval waited_so_far(const Waiter& waiter, uint64_t begin, uint64_t now) const noexcept;
  uint64_t idle_before(uint64_t time, uint64_t known) const noexcept;
  void blame(const Scope& scope, Interval time, PiecedWait& parts) noexcept;
  void blame_measured(const Scope& scope, Interval time, PiecedWait& parts) noexcept;
  bool make_scratch(size_t tasks, size_t used) noexcept;
  void note_waited(const Scope& scope, Interval time) noexcept;
  void blame_working(const Scope& scope, uint64_t call_end, Interval time, uint64_t worked, PiecedWait& parts,
                     uint64_t& last_active) noexcept;
  void conclude(Wait& wait, uint64_t last_active) noexcept;
  void learn_habit(const EndedWait& wait, const WaitParts& parts) noexcept;
  bool waits_spin() const noexcept { return spun_ > waited_ / 2; }
  void resolve_open_waits(uint64_t now, uint64_t until) noexcept;
  void resolve_waits(uint64_t until, const Waiter* whose) noexcept;
  void release_tasks(uint64_t until) noexcept;
  void forget(uint64_t until) noexcept;

  // Of the first chunk of tasks; each is twice as large as the one before, up to the most.
  static constexpr uint32_t kFirstChunkTasks = 512;
  static constexpr uint32_t kMaxChunkTasks = 64 * 1024;
  static constexpr uint32_t kMaxChunks = 40;  // 2.1 million tasks
  struct Chunk {
    Task* tasks = nullptr;
    uint32_t count = 0;
    uint32_t taken = 0;  // for the first time; the rest was never touched
  };

  Arena* arena_ = nullptr;
  Device devices_[kMostDevices];
  uint16_t device_count_ = 0;
  IntervalHistory paused_;
  Chunk chunks_[kMaxChunks];
  uint32_t chunk_count_ = 0;
  Task* free_tasks_ = nullptr;
  std::atomic<Task*> arrivals_{nullptr};  // that submit_at_once() handed in, the last first
  Task* first_under_way_ = nullptr;
  Task* last_under_way_ = nullptr;
  CompletedTasks completed_;  // that a wait may still overlap
  std::atomic<uint64_t> last_serial_{0};
  Waiter* waiters_ = nullptr;
  Wait* first_wait_ = nullptr;  // that ended, in this order
  Wait* last_wait_ = nullptr;
  Wait* free_waits_ = nullptr;
  uint64_t waited_ = 0;         // ns in calls that wait while a task was active,
  uint64_t spun_ = 0;           // and how many of these the waiting thread had a processor
  uint64_t advanced_ = 0;       // when
  uint32_t since_advance_ = 0;  // tasks that completed since then
  BlamedTask* blamed_ = nullptr;
  Task** blamed_tasks_ = nullptr;
  TaskEdge* edges_ = nullptr;
  size_t scratch_room_ = 0;
};

}  // namespace hpcrun
