#pragma once
// Attributes the time that processors wait for accelerators, and the time that accelerators are idle, to
// calling contexts (docs/devices.md). Back ends, one per vendor's interface, report what they observe:
// devices, queues, tasks, and the program's calls. Nothing here uses a vendor's types.
//
// All functions may be called from any thread, also before measuring has begun and after it has ended, and in
// forked children; they then do nothing. They must not be called from our handlers. errno is preserved.

#include <cstdint>

namespace hpcrun {

using DeviceIndex = uint16_t;
using QueueIndex = uint16_t;
constexpr DeviceIndex kNoDevice = 0xffff;
constexpr QueueIndex kNoQueue = 0xffff;
constexpr DeviceIndex kMaxDevices = 16;
constexpr QueueIndex kMaxQueues = 1024;

enum class TaskKind : uint8_t { Kernel, CopyToDevice, CopyFromDevice, CopyOnDevice, Fill };

// Strings are copied; nullptr counts as empty. `uuid` is unique on the node and the same in all processes.
struct DeviceInfo {
  const char* api;     // "OpenCL"
  const char* name;    // the vendor's
  const char* uuid;    // letters, digits, '-', '_' and '.'; other characters are replaced
  const char* driver;  // version
};

// Adds a device. The same uuid gives the same index. Returns kNoDevice if nothing is measured, if there is no
// memory, or beyond kMaxDevices. A device's idleness counts from here.
DeviceIndex add_device(const DeviceInfo& info) noexcept;

// Adds a queue. `in_order`: tasks run in the order of submission. Returns kNoQueue as above. All functions
// below accept kNoQueue and kNoDevice.
QueueIndex add_queue(DeviceIndex device, const char* name, bool in_order) noexcept;

struct Task;  // of the engine's pool

// Records the caller's context and the time of a task. Must be called before the interface enqueues it.
// `name` is the kernel's (copied; ignored for other kinds), `bytes` is the size of a copy. Returns nullptr,
// which all functions below accept, if there is no memory, nothing is measured, or measuring is paused.
Task* submit(QueueIndex queue, TaskKind kind, const char* name, uint64_t bytes) noexcept;

// Removes a task that the interface refused.
void discard(Task* task) noexcept;

// Completes a task, with its times in ns of CLOCK_MONOTONIC. Must be called once for each task, which is then
// removed. If `end_ns` is 0, the record was incomplete; the task is counted and dropped.
void complete(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept;

// The queue and context in which a task was launched.
struct Launch {
  QueueIndex queue = kNoQueue;
  uint32_t node = 0;  // in the queue's tree
};

// Returns the launch of a task that is under way; otherwise the queue is kNoQueue.
Launch launch_of(const Task* task) noexcept;

// The awaited task: among the tasks of other queues that a task waited for by events, the one that ended
// last.
struct AwaitedTask {
  Launch launch;
  uint64_t end_ns = 0;  // in CLOCK_MONOTONIC
};

// Does the same as complete() for such a task. The time in which nothing else kept it from starting is
// charged to both launches.
void complete_after(Task* task, uint64_t start_ns, uint64_t end_ns, const AwaitedTask& awaited) noexcept;

// Completes one of several tasks of a launch, or a task whose kind is known only after it has run. It counts
// as submitted where and when `launch` was. `launch` stays under way until it is discarded.
void complete_part(const Task* launch, TaskKind kind, const char* name, uint64_t bytes, uint64_t start_ns,
                   uint64_t end_ns) noexcept;

enum class CallKind : uint8_t {
  Short,  // enqueues, queries, sets up
  Wait,   // synchronizes
  Block   // may wait as well as work: allocation, release, build, loading of a module
};

// A call of a device's interface by the program, on the stack of the wrapper. Nested calls are not counted.
// While it is open, samples blame no context for idleness, and the runtime's frames are removed from their
// call paths.
//
// The functions that state what the call waits for must be called before the interface is. Several of them
// add up; none means every device. The destructor attributes the wait; until then the back end may report
// what has completed.
class DeviceCall {
 public:
  // `function` is what the program called. It represents the call in its path.
  DeviceCall(CallKind kind, const void* function) noexcept;
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  void waits_for_device(DeviceIndex device) noexcept;
  void waits_for_queue(QueueIndex queue) noexcept;
  // Includes, in a queue that keeps order, all tasks submitted to it before.
  void waits_for_task(const Task* task) noexcept;

  // Must be called when the interface has returned. Otherwise the call ends where the destructor begins.
  void end() noexcept;

  // Does the destructor's work, for a call in which the thread is cancelled.
  void close() noexcept;

 private:
  void* thread_ = nullptr;  // the engine's state of the calling thread; nullptr: not counted
  CallKind kind_ = CallKind::Short;
};

// Removes frames of the library that contains this code, between the program's and ours, from call paths. At
// most four libraries, permanently.
void leave_out_library(const void* code) noexcept;

// Sets a function to call before the program opens a library whose file name begins with `beginning`. The
// thread that opens it calls it, as long as the process is measured. At most four, permanently; the text must
// stay valid.
void watch_library(const char* beginning, void (*before_opening)() noexcept) noexcept;

// Measures the last tasks of devices when the process ends by _exit(), while other threads may be anywhere. A
// thread of the runtime calls `flush`, if any, to hand in the tasks that have completed. The process waits
// for it only briefly. At most four functions; they cannot be removed.
void flush_at_sudden_end(void (*flush)() noexcept) noexcept;

// Records the text of a degradation, shown in every report; each sentence once.
void note_degradation(const char* sentence) noexcept;

}  // namespace hpcrun
