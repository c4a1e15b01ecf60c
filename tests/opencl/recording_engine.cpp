// An engine that attributes nothing. It writes the calls of the back end, one line each, to the file that
// RECORDING names, as the process ends:
//
//   device UUID NAME           queue INDEX ORDER NAME       note SENTENCE
//   task QUEUE KIND NAME BYTES SUBMITTED START END          discarded QUEUE
//   awaited QUEUE END SUBMITTED (of the task that waited, before its own line)
//   call KIND FUNCTION BEGIN END SCOPE... (dDEVICE, qQUEUE, tSUBMITTED)

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "hpcrun/device/engine.h"
#include "hpcrun/guest/clock.h"

namespace hpcrun {

struct Task {
  QueueIndex queue;
  TaskKind kind;
  std::string name;
  uint64_t bytes;
  uint64_t submitted;
};

namespace {

struct Recording {
  std::mutex mutex;
  std::string text;
  std::vector<std::string> devices;
  QueueIndex queues = 0;
  int pid = getpid();

  ~Recording() {
    const char* path = getenv("RECORDING");
    if (!path || pid != getpid()) return;
    FILE* file = fopen(path, "w");
    if (!file) return;
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
  }
  void add(const std::string& line) {
    const std::lock_guard lock(mutex);
    text += line + "\n";
  }
};

Recording& recording() {
  static Recording it;
  return it;
}

thread_local int depth = 0;

struct OpenCall {
  CallKind kind = CallKind::Short;
  std::string function;
  uint64_t begin = monotonic_ns();
  uint64_t end = 0;
  std::string scope;
};
thread_local OpenCall open_call;

std::string name_of(const void* function) {
  Dl_info info;
  return function && dladdr(function, &info) && info.dli_sname ? info.dli_sname : "?";
}

}  // namespace

DeviceIndex add_device(const DeviceInfo& info) noexcept {
  Recording& it = recording();
  it.add(std::string("device ") + info.uuid + " " + info.name);
  const std::lock_guard lock(it.mutex);
  for (size_t i = 0; i < it.devices.size(); ++i)
    if (it.devices[i] == info.uuid) return static_cast<DeviceIndex>(i);
  it.devices.emplace_back(info.uuid);
  return static_cast<DeviceIndex>(it.devices.size() - 1);
}

QueueIndex add_queue(DeviceIndex, const char* name, bool in_order) noexcept {
  Recording& it = recording();
  const QueueIndex index = it.queues++;
  it.add("queue " + std::to_string(index) + (in_order ? " in-order " : " any-order ") + name);
  return index;
}

Task* submit(QueueIndex queue, TaskKind kind, const char* name, uint64_t bytes) noexcept {
  std::string word = name ? name : "-";
  std::replace(word.begin(), word.end(), ' ', '_');
  return new Task{queue, kind, word, bytes, monotonic_ns()};
}

void discard(Task* task) noexcept {
  if (!task) return;
  recording().add("discarded " + std::to_string(task->queue));
  delete task;
}

void complete(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept {
  if (!task) return;
  constexpr const char* kKinds[] = {"kernel", "to-device", "from-device", "on-device", "fill"};
  recording().add("task " + std::to_string(task->queue) + " " + kKinds[static_cast<int>(task->kind)] + " " +
                  task->name + " " + std::to_string(task->bytes) + " " + std::to_string(task->submitted) +
                  " " + std::to_string(start_ns) + " " + std::to_string(end_ns));
  delete task;
}

Launch launch_of(const Task* task) noexcept {
  return task ? Launch{task->queue, 0} : Launch{};
}

void complete_after(Task* task, uint64_t start_ns, uint64_t end_ns, const AwaitedTask& awaited) noexcept {
  if (task && awaited.end_ns)
    recording().add("awaited " + std::to_string(awaited.launch.queue) + " " + std::to_string(awaited.end_ns) +
                    " " + std::to_string(task->submitted));
  complete(task, start_ns, end_ns);
}

DeviceCall::DeviceCall(CallKind kind, const void* function) noexcept {
  if (depth++ != 0) return;
  open_call = OpenCall{};
  open_call.kind = kind;
  open_call.function = name_of(function);
}

void DeviceCall::waits_for_device(DeviceIndex device) noexcept {
  if (depth == 1) open_call.scope += " d" + std::to_string(device);
}
void DeviceCall::waits_for_queue(QueueIndex queue) noexcept {
  if (depth == 1) open_call.scope += " q" + std::to_string(queue);
}
void DeviceCall::waits_for_task(const Task* task) noexcept {
  if (depth == 1 && task) open_call.scope += " t" + std::to_string(task->submitted);
}
void DeviceCall::end() noexcept {
  if (depth == 1) open_call.end = monotonic_ns();
}
DeviceCall::~DeviceCall() {
  close();
}
void DeviceCall::close() noexcept {
  if (--depth != 0) return;
  constexpr const char* kKinds[] = {"short", "wait", "block"};
  if (!open_call.end) open_call.end = monotonic_ns();
  recording().add(std::string("call ") + kKinds[static_cast<int>(open_call.kind)] + " " + open_call.function +
                  " " + std::to_string(open_call.begin) + " " + std::to_string(open_call.end) +
                  open_call.scope);
}

// A recording is written call by call, so nothing has to be flushed.
void flush_at_sudden_end(void (*)() noexcept) noexcept {}

void note_degradation(const char* sentence) noexcept {
  recording().add(std::string("note ") + sentence);
}

}  // namespace hpcrun
