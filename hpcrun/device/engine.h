#pragma once
// Who keeps a processor waiting for an accelerator, and who keeps the accelerator idle. Back ends, one for
// each vendor's interface, tell what they see: devices, queues, tasks, and the program's calls. The engine
// attributes it to calling contexts (docs/devices.md). Nothing here knows a vendor's types.
//
// Everything may be called from any thread, before measuring has begun and after it has ended, and in forked
// children, where it then does nothing; never from a handler of ours. errno is kept.

#include <cstdint>

namespace hpcrun {

using DeviceIndex = uint16_t;
using QueueIndex = uint16_t;
constexpr DeviceIndex kNoDevice = 0xffff;
constexpr QueueIndex kNoQueue = 0xffff;
constexpr DeviceIndex kMostDevices = 16;
constexpr QueueIndex kMostQueues = 1024;

enum class TaskKind : uint8_t { Kernel, CopyToDevice, CopyFromDevice, CopyOnDevice, Fill };

// Strings are copied, nullptr counts as empty. `uuid` is unique on the node and the same in all processes.
struct DeviceInfo {
  const char* api;     // "OpenCL"
  const char* name;    // the vendor's
  const char* uuid;    // letters, digits, '-', '_' and '.'; others are replaced
  const char* driver;  // version
};

// The same uuid gives the same index. kNoDevice: nothing is measured, no memory, or more than kMostDevices.
// A device's idleness counts from here.
DeviceIndex add_device(const DeviceInfo& info) noexcept;

// `in_order`: tasks run in the order of their submission. kNoQueue as above; it and kNoDevice are accepted
// by all below.
QueueIndex add_queue(DeviceIndex device, const char* name, bool in_order) noexcept;

struct Task;  // of the engine's pool

// Before the interface enqueues: notes the caller's context and the time. `name` is the kernel's (copied;
// ignored for other kinds), `bytes` what a copy moves. nullptr, which all below accept: no memory, nothing is
// measured, or measuring is paused.
Task* submit(QueueIndex queue, TaskKind kind, const char* name, uint64_t bytes) noexcept;

// The interface refused it. The task is gone.
void discard(Task* task) noexcept;

// When it ran, in ns of CLOCK_MONOTONIC; once for each task, which is gone afterwards. An end of 0: the
// record was incomplete; it is counted and dropped.
void complete(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept;

// Where a task was launched.
struct Launch {
  QueueIndex queue = kNoQueue;
  uint32_t node = 0;  // of the queue's tree
};

// Of a task that is under way; else its queue is kNoQueue.
Launch launch_of(const Task* task) noexcept;

// The task of another queue that a task was made to wait for, by an event, and that ended last.
struct AwaitedTask {
  Launch launch;
  uint64_t end_ns = 0;  // of CLOCK_MONOTONIC
};

// complete() for such a task: the time in which nothing else kept it from starting is charged to both
// launches.
void complete_after(Task* task, uint64_t start_ns, uint64_t end_ns, const AwaitedTask& awaited) noexcept;

// One of the tasks of a launch that has several, or of one whose kind is known only when it has run:
// submitted where and when `launch` was, and complete. `launch` stays under way until it is discarded.
void complete_part(const Task* launch, TaskKind kind, const char* name, uint64_t bytes, uint64_t start_ns,
                   uint64_t end_ns) noexcept;

enum class CallKind : uint8_t {
  Short,  // enqueues, queries, sets up
  Wait,   // synchronises
  Block   // may wait as well as work: allocation, release, build, loading of a module
};

// A call of a device's interface by the program, on the stack of the wrapper. Calls in calls count nothing.
// While it is open, samples blame nobody for idleness and their call paths leave the runtime's frames out.
//
// What is waited for is said before the interface is called; several add up, none means every device. The
// destructor attributes the wait: until then the back end may hand in what has completed.
class DeviceCall {
 public:
  // `function` is what the program called, which stands for the call in its path.
  DeviceCall(CallKind kind, const void* function) noexcept;
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  void waits_for_device(DeviceIndex device) noexcept;
  void waits_for_queue(QueueIndex queue) noexcept;
  // And, in a queue that keeps order, for all that was submitted to it before.
  void waits_for_task(const Task* task) noexcept;

  // The interface has returned. Without it the call ends where the destructor begins.
  void end() noexcept;

  // What the destructor does, for a call that the thread is cancelled in.
  void close() noexcept;

 private:
  void* thread_ = nullptr;  // the engine's state of the calling thread; nullptr: counts nothing
  CallKind kind_ = CallKind::Short;
};

// Frames of the library that holds this code, between the program's and ours, are left out of call paths; of
// four libraries at most, for good.
void leave_out_library(const void* code) noexcept;

// Called before the program opens a library whose file's name begins with this, by the thread that does, as
// long as the process is measured. Four at most, for good; the text stays.
void watch_library(const char* beginning, void (*before_opening)() noexcept) noexcept;

// Has a thread of ours end the measuring of devices as the process ends by _exit(), while others may be
// anywhere: `flush`, if any, is called by it to hand in what has completed. It is not waited for long. Four
// at most, for good.
void flush_at_sudden_end(void (*flush)() noexcept) noexcept;

// Text of a degradation, shown by every report; each sentence once.
void note_degradation(const char* sentence) noexcept;

}  // namespace hpcrun
