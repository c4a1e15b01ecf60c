#pragma once
// Combines what the devices of a process did with the waits of its threads, and assigns blame both ways.
// Tasks are blamed for the time that threads waited, and calling contexts for the time that devices were idle
// (Chabbi's thesis, section 2.6). Tasks are known once they have completed, in any order and with any delay.
// Therefore waits and the pieces of threads' time are kept until all tasks submitted before their end are
// known.
//
// Uses no thread, tree or clock: the caller passes times, and cells to add to. One caller at a time. Times
// are in ns of CLOCK_MONOTONIC. Not for handlers, though it allocates only from its arena.

#include <atomic>
#include <cstdint>

#include "hpcrun/device/completed_tasks.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/interval_history.h"
#include "hpcrun/device/timeline.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/model/blame.h"

namespace hpcrun {

// Tasks that a thread may submit without the lock. Belongs to the thread.
struct TaskReserve {
  Task* first = nullptr;
};

// The tasks that a wait is for. The waiting thread adds to it while other threads may read.
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
  // With more single queues and tasks than this, their whole devices are waited for.
  static constexpr uint32_t kMaxParts = 16;
  struct Part {
    QueueIndex queue;
    uint64_t first_serial;
    uint64_t last_serial;
  };
  void add(DeviceIndex device, const Part& part) noexcept;

  std::atomic<uint32_t> devices_{0};  // devices waited for as a whole, by bit
  std::atomic<uint32_t> touched_{0};  // devices of which anything is waited for
  std::atomic<uint32_t> part_count_{0};
  Part parts_[kMaxParts];
};

// A call that waits. Set by the thread; other threads may read it.
struct OpenDeviceWait {
  std::atomic<bool> may_work{false};   // CallKind::Block
  std::atomic<uint64_t> cpu_begin{0};  // for such a call: the thread's CPU time when it began
  std::atomic<uint64_t> begin{0};      // 0: there is none
  std::atomic<uint64_t> end{0};        // 0: not known yet
  Scope scope;
};

// The cells to which the parts of a wait are added.
struct WaitCells {
  ValueCell* cpu_idle;
  ValueCell* launch_latency;
  ValueCell* gap;
  ValueCell* wake_latency;
};

struct EndedWait {
  Interval time;
  // CallKind::Block: it waited while the thread did not work, and until a task ended.
  bool may_work;
  uint64_t worked;  // ns of it in which the thread had a processor, or was kept from one by other threads
  WaitCells cells;
  uint32_t node;  // passed to the receiver
};

// A thread in the schedule. Owned by the caller.
struct Waiter {
  Timeline timeline;
  OpenDeviceWait wait;
  TaskReserve reserve;
  Waiter* next = nullptr;

  // Owned by the schedule: up to where an open wait is resolved, and the result.
  uint64_t resolved_begin = 0;  // begin of that wait
  uint64_t resolved_until = 0;
  uint64_t resolved_work = 0;  // the thread's CPU time within that
  PiecedWait resolved_parts;

  // Returns the thread's CPU time until now, in ns. Called by any thread while a call is open that may work.
  uint64_t (*cpu_time)(void* receiver) = nullptr;

  // Called with each wait of the thread once its parts are known.
  void (*receive)(void* receiver, const EndedWait& wait, const WaitParts& parts) = nullptr;
  void* receiver = nullptr;
};

// Time of first use, and sums until now.
struct DeviceTotals {
  uint64_t first_use = 0;
  uint64_t busy = 0;
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t overlap = 0;
  uint64_t cpu_waits = 0;
  uint64_t occupied = 0;  // busy, or another process had work for it
  uint64_t paused = 0;    // since its first use; excluded from the times above
  uint64_t completed = 0;
  uint64_t incomplete = 0;       // records without an end, and tasks under way
  uint64_t under_way_since = 0;  // a task is under way, and nothing has completed since then; 0: none is
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

  // Returns nullptr if there is no memory. `now` must not be before that of any other call.
  Task* submit(DeviceIndex device, QueueIndex queue, TaskKind kind, uint64_t now) noexcept;
  // Submits another task of the same launch, at its position in the order.
  Task* submit_part(const Task& launch, TaskKind kind) noexcept;

  // Submits a task as submit() does, but from any thread at any time, without waiting for the one caller of
  // all other functions. Returns nullptr if the reserve is used up, or if nothing is under way for the
  // device; the thread must then become that caller. `ready` sets the other fields of the task before other
  // threads see it.
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
  bool is_under_way(const Task* task) noexcept;  // accepts any pointer
  void discard(Task* task) noexcept;
  // Drops a task whose record was incomplete.
  void lose(Task* task) noexcept;

  // Sets the times, made consistent. Returns the part of them in which no thread of the process waited. The
  // task belongs to the schedule afterwards.
  uint64_t complete(Task* task, uint64_t start, uint64_t end, uint64_t now) noexcept;

  void add_waiter(Waiter& waiter) noexcept;
  // Removes a waiter, which belongs to the caller again. Its waits and time are resolved as far as they are
  // known.
  void remove_waiter(Waiter& waiter) noexcept;

  // Ends the waiter's open wait. Its scope is copied.
  void end_wait(Waiter& waiter, const EndedWait& wait) noexcept;

  // Resolves what is known by now.
  void advance(uint64_t now) noexcept;
  // True if there is enough to resolve.
  bool is_due(uint64_t now) const noexcept;
  // Resolves everything pending, as far as it is known, at the end.
  void finish(uint64_t now) noexcept;

  // Excludes a pause of measuring: no context is blamed for the time in it. Must be called before the next
  // advance() past its end, and before a device is added in it. Pieces may overlap.
  void add_pause(uint64_t begin, uint64_t end) noexcept;
  bool was_paused(uint64_t time) const noexcept { return paused_.covered(time, time + 1) != 0; }

  // Add the time in which another process had work for the device, or waited for it. Must be called before
  // the next advance() past its end.
  void add_others_work(DeviceIndex device, uint64_t begin, uint64_t end) noexcept;
  void add_others_wait(DeviceIndex device, uint64_t begin, uint64_t end) noexcept;

  // Returns the time before which nothing more will become known. A task that was active before `now` was
  // submitted before.
  uint64_t horizon(uint64_t now) noexcept {
    admit_tasks();
    return first_under_way_ && first_under_way_->submit < now ? first_under_way_->submit : now;
  }

  // Return the number of tasks that were submitted and have not completed, and the end of the latest
  // completed task.
  uint32_t under_way(DeviceIndex device) const noexcept {
    return devices_[device].under_way.load(std::memory_order_acquire);
  }
  uint64_t last_end(DeviceIndex device) const noexcept { return devices_[device].last_end; }

  DeviceTotals totals(DeviceIndex device) const noexcept;
  // DeviceTotals::under_way_since.
  uint64_t under_way_since(DeviceIndex device) const noexcept;

 private:
  struct Device {
    uint64_t first_use = 0;
    uint64_t paused_before = 0;  // sum of the pauses before its first use
    uint64_t last_end = 0;       // of any task
    uint64_t occupied_since =
        0;  // submission of the first task of the current sequence, in which one was always under way
    // Each includes pauses, so that these count neither twice nor as idleness.
    IntervalHistory busy;      // a task of this process was active
    IntervalHistory occupied;  // the same, or another process had work for it
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
    uint64_t since;        // resolved up to here
    uint64_t work_before;  // the part of its work before that
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
  void remove_until(uint64_t until) noexcept;

  // Size of the first chunk of tasks; each is twice as large as the previous one, up to the maximum.
  static constexpr uint32_t kFirstChunkTasks = 512;
  static constexpr uint32_t kMaxChunkTasks = 64 * 1024;
  static constexpr uint32_t kMaxChunks = 40;  // 2.1 million tasks
  struct Chunk {
    Task* tasks = nullptr;
    uint32_t count = 0;
    uint32_t taken = 0;  // used so far; the rest was never touched
  };

  Arena* arena_ = nullptr;
  Device devices_[kMaxDevices];
  uint16_t device_count_ = 0;
  IntervalHistory paused_;
  Chunk chunks_[kMaxChunks];
  uint32_t chunk_count_ = 0;
  Task* free_tasks_ = nullptr;
  std::atomic<Task*> arrivals_{nullptr};  // from submit_at_once(), the latest first
  Task* first_under_way_ = nullptr;
  Task* last_under_way_ = nullptr;
  CompletedTasks completed_;  // which a wait may still overlap
  std::atomic<uint64_t> last_serial_{0};
  Waiter* waiters_ = nullptr;
  Wait* first_wait_ = nullptr;  // ended waits, in the order of their ends
  Wait* last_wait_ = nullptr;
  Wait* free_waits_ = nullptr;
  uint64_t waited_ = 0;         // ns in calls that wait while a task was active,
  uint64_t spun_ = 0;           // and the part of them in which the waiting thread had a processor
  uint64_t advanced_ = 0;       // time of the last advance()
  uint32_t since_advance_ = 0;  // number of tasks that completed since then
  BlamedTask* blamed_ = nullptr;
  Task** blamed_tasks_ = nullptr;
  TaskEdge* edges_ = nullptr;
  size_t scratch_room_ = 0;
};

}  // namespace hpcrun
