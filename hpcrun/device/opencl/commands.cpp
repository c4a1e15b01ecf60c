#include "hpcrun/device/opencl/commands.h"

#include <atomic>
#include <cassert>
#include <new>

#include "hpcrun/guest/clock.h"

namespace hpcrun::opencl {

// Fresh; Listed: in its queue's list; Taken: removed from it to check whether it has ended; Finished: the
// engine has its times and the event is released. A command stays in memory until its callback has come as
// well.
enum class State : uint8_t { Fresh, Listed, Taken, Finished };

struct Command {
  Command* previous;
  Command* next_in_queue;
  Queue* queue;
  Task* task;
  cl_event event;
  EnqueueTimes times;
  Dependencies* awaited;
  State state;       // this and the next are guarded by the queue's lock
  bool called_back;  // while it was taken: the thread that took it finishes it
  std::atomic<uint8_t> references;
};

namespace {

constinit SpinLock free_lock;
constinit Command* free_commands = nullptr;

// Limits how many commands of out-of-order queues are checked; callbacks find the rest. Also limits the
// search for events of wait lists, from the last command backward.
constexpr int kMaxPolled = 256;
// A wait for an event further down the list is treated as a wait for the queue.
constexpr int kMaxSearched = 4096;

Command* new_command() noexcept {
  {
    const Locked locked(free_lock);
    if (Command* command = free_commands) {
      free_commands = command->next_in_queue;
      return command;
    }
  }
  return static_cast<Command*>(keep(sizeof(Command)));
}

void drop(Command& command) noexcept {
  if (command.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const Locked locked(free_lock);
  command.next_in_queue = free_commands;
  free_commands = &command;
}

void append(Command& command) noexcept {
  Queue& queue = *command.queue;
  assert(queue.lock.is_held());
  command.previous = queue.last;
  command.next_in_queue = nullptr;
  (queue.last ? queue.last->next_in_queue : queue.first) = &command;
  queue.last = &command;
}

void prepend(Command& command) noexcept {
  Queue& queue = *command.queue;
  assert(queue.lock.is_held());
  command.previous = nullptr;
  command.next_in_queue = queue.first;
  (queue.first ? queue.first->previous : queue.last) = &command;
  queue.first = &command;
}

void remove(Command& command) noexcept {
  Queue& queue = *command.queue;
  assert(queue.lock.is_held());
  (command.previous ? command.previous->next_in_queue : queue.first) = command.next_in_queue;
  (command.next_in_queue ? command.next_in_queue->previous : queue.last) = command.previous;
}

uint64_t time_of(cl_event event, cl_profiling_info which) noexcept {
  cl_ulong time = 0;
  return next.clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr) == CL_SUCCESS ? time : 0;
}

// Reports a command to the engine, and releases the event and the dependencies.
void report(Device& device, Task* task, cl_event event, const EnqueueTimes& times,
            Dependencies* awaited) noexcept {
  const uint64_t start = time_of(event, CL_PROFILING_COMMAND_START);
  const uint64_t end = time_of(event, CL_PROFILING_COMMAND_END);
  if (start == 0 || end < start) {
    release(awaited);
    complete(task, 0, 0);
  } else {
    const uint64_t now = monotonic_ns();
    device.clock_lock.lock();
    const bool due = device.clock.is_due(now);
    device.clock_lock.unlock();
    const uint64_t queued = due ? time_of(event, CL_PROFILING_COMMAND_QUEUED) : 0;
    device.clock_lock.lock();
    if (due) device.clock.observe(times.before_ns, queued, times.after_ns, now);
    const uint64_t start_ns = device.clock.monotonic(start, times.before_ns, now);
    const uint64_t end_ns = device.clock.monotonic(end, start_ns, now);
    device.clock_lock.unlock();
    complete_after(task, start_ns, end_ns, latest_end(awaited, now));
  }
  next.clReleaseEvent(event);
}

void finish(Command& command) noexcept {
  assert(command.state == State::Finished);  // nobody changes it any more
  report(*command.queue->device, command.task, command.event, command.times, command.awaited);
  drop(command);
}

void finish_after_earlier(Command& command) noexcept;

void CL_CALLBACK on_end(cl_event, cl_int, void* data) noexcept {
  auto& command = *static_cast<Command*>(data);
  Queue& queue = *command.queue;
  queue.lock.lock();
  const bool is_listed = command.state == State::Listed;
  if (is_listed) {
    remove(command);
    command.state = State::Finished;
  }
  command.called_back = true;
  queue.lock.unlock();
  if (is_listed) finish_after_earlier(command);
  drop(command);
}

bool has_ended(cl_event event) noexcept {
  cl_int status = CL_QUEUED;
  return next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) !=
             CL_SUCCESS ||
         status <= CL_COMPLETE;
}

Command* take_first(Queue& queue) noexcept {
  const Locked locked(queue.lock);
  Command* const command = queue.first;
  if (!command) return nullptr;
  remove(*command);
  command->state = State::Taken;
  return command;
}

// Returns true if it has ended. Otherwise puts it back in the list, at its start or at its end.
bool settle(Command& command, bool at_end) noexcept {
  bool ended = has_ended(command.event);
  {
    const Locked locked(command.queue->lock);
    ended = ended || command.called_back;
    command.state = ended ? State::Finished : State::Listed;
    if (!ended) at_end ? append(command) : prepend(command);
  }
  if (ended) finish(command);
  return ended;
}

// Finishes a command after the earlier ones of its queue: their ends determine how long it waited for other
// queues.
void finish_after_earlier(Command& command) noexcept {
  if (command.awaited && command.queue->in_order) poll(*command.queue);
  finish(command);
}

}  // namespace

void follow(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
            Dependencies* awaited) noexcept {
  Command* const memory = new_command();
  if (!memory) {
    release(awaited);
    discard(task);
    next.clReleaseEvent(event);
    return;
  }
  Command& command =
      *new (memory) Command{nullptr, nullptr, &queue, task, event, times, awaited, State::Fresh, false, 2};
  if (next.clSetEventCallback(event, CL_COMPLETE, on_end, &command) != CL_SUCCESS) drop(command);
  bool ended;
  {
    const Locked locked(queue.lock);
    ended = command.called_back;
    command.state = ended ? State::Finished : State::Listed;
    if (!ended) append(command);
  }
  if (ended) finish_after_earlier(command);
}

void finish_now(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
                Dependencies* awaited) noexcept {
  if (awaited && queue.in_order) poll(queue);
  report(*queue.device, task, event, times, awaited);
}

void poll(Queue& queue) noexcept {
  for (int i = 0; queue.in_order || i < kMaxPolled; ++i) {
    Command* const command = take_first(queue);
    if (!command || (!settle(*command, !queue.in_order) && queue.in_order)) return;
  }
}

namespace {

// Returns nullptr if the command has ended, or if there are too many to search.
const Command* find_listed(const Queue& queue, cl_event event, bool& too_many) noexcept {
  assert(queue.lock.is_held());
  int seen = 0;
  const Command* command = queue.first;
  for (; command && command->event != event && seen < kMaxSearched; command = command->next_in_queue) ++seen;
  too_many = seen == kMaxSearched;
  return too_many ? nullptr : command;
}

}  // namespace

Queue* queue_of_event(cl_event event) noexcept {
  cl_command_queue handle = nullptr;
  if (!event || next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, static_cast<void*>(&handle),
                                    nullptr) != CL_SUCCESS)
    return nullptr;
  return handle ? queue_of(handle) : nullptr;
}

Launch launch_under_way(Queue& queue, cl_event event) noexcept {
  const Locked locked(queue.lock);
  int seen = 0;
  for (const Command* command = queue.last; command && seen < kMaxPolled; command = command->previous, ++seen)
    if (command->event == event) return launch_of(command->task);
  return {};
}

bool is_under_way(Queue& queue, cl_event event) noexcept {
  const Locked locked(queue.lock);
  bool too_many = false;
  return find_listed(queue, event, too_many) || too_many;
}

void add_scope(DeviceCall& call, Queue& queue, cl_event event) noexcept {
  const Locked locked(queue.lock);
  bool too_many = false;
  const Command* const command = queue.in_order ? find_listed(queue, event, too_many) : nullptr;
  if (command)
    call.waits_for_task(command->task);
  else
    call.waits_for_queue(queue.index);
}

void reset_commands_after_fork() noexcept {
  new (&free_lock) SpinLock;
  free_commands = nullptr;
  reset_dependencies_after_fork();
}

}  // namespace hpcrun::opencl
