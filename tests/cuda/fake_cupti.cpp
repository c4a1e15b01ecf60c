// libcupti.so.13 over the fake driver. FAKE_CUPTI is a comma-separated list of deviations: taken (another
// tool has subscribed), old, new (an unknown version), no-clock (no timestamp callback: times are those of
// CLOCK_REALTIME), zero-end (every third record has no end), drop (every third record is lost), late (records
// are delivered only by a forced flush), stuck (a forced flush never returns).

#include <time.h>
#include <unistd.h>

#include <bitset>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "fake_driver.h"

namespace {

bool does(const char* what) {
  const char* const list = getenv("FAKE_CUPTI");
  return list && ("," + std::string(list) + ",").find("," + std::string(what) + ",") != std::string::npos;
}

struct Cupti {
  std::mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::bitset<2048> enabled[CUPTI_CB_DOMAIN_SIZE];
  std::bitset<256> kinds;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  size_t seen = 0;
  size_t dropped = 0;
};

Cupti& cupti() {
  static Cupti* const it = new Cupti;
  return *it;
}

void pass_on(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  Cupti& it = cupti();
  if (it.callback && it.enabled[domain].test(id)) it.callback(it.user, domain, id, data);
}

uint64_t realtime_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The driver's schedule is in CLOCK_MONOTONIC.
uint64_t shown(uint64_t time) {
  return cupti().clock ? time : time - fake::now_ns() + realtime_ns();
}

struct Writer {
  uint8_t* buffer = nullptr;
  size_t room = 0;
  size_t used = 0;

  template <typename Record>
  void add(const Record& record) {
    if (used + sizeof record > room) hand_over();
    if (!buffer) {
      size_t most = 0;
      cupti().request(&buffer, &room, &most);
      if (!buffer) return;
    }
    memcpy(buffer + used, &record, sizeof record);
    used += sizeof record;
  }
  void hand_over() {
    if (buffer) cupti().complete(nullptr, 0, buffer, room, used);
    buffer = nullptr;
    used = 0;
  }
};

void write(Writer& writer, const fake::Task& task, bool ended) {
  Cupti& it = cupti();
  const size_t number = it.seen++;
  if (does("drop") && number % 3 == 2) {
    ++it.dropped;
    return;
  }
  const uint64_t end = !ended || (does("zero-end") && number % 3 == 2) ? 0 : shown(task.end);
  static std::string* const kept = new std::string[4096];  // names of records stay valid
  switch (task.kind) {
    case fake::Kind::Kernel: {
      CUpti_ActivityKernel10 record{};
      record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      record.start = shown(task.start);
      record.end = end;
      record.contextId = 1;
      record.streamId = task.stream;
      record.correlationId = task.correlation;
      record.graphNodeId = task.graph_node;
      std::string& name = kept[number % 4096];
      name = task.name;
      record.name = name.c_str();
      return writer.add(record);
    }
    case fake::Kind::Copy: {
      CUpti_ActivityMemcpy6 record{};
      record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
      record.copyKind = task.copy_kind;
      record.bytes = task.bytes;
      record.start = shown(task.start);
      record.end = end;
      record.streamId = task.stream;
      record.correlationId = task.correlation;
      return writer.add(record);
    }
    case fake::Kind::Fill: {
      CUpti_ActivityMemset4 record{};
      record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
      record.bytes = task.bytes;
      record.start = shown(task.start);
      record.end = end;
      record.streamId = task.stream;
      record.correlationId = task.correlation;
      return writer.add(record);
    }
  }
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = does("old") ? 17 : does("new") ? 150000 : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
  return cuptiSubscribe_v2(subscriber, callback, user, nullptr);
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user,
                              CUpti_SubscriberParams* parameters) {
  if (does("taken")) {
    if (parameters && parameters->oldSubscriberName)
      snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "CUPTI for another profiler");
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  cupti().callback = callback;
  cupti().user = user;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&cupti());
  fake::tools().callback = pass_on;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  fake::tools().callback = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  if (id >= 2048) return CUPTI_ERROR_INVALID_PARAMETER;
  cupti().enabled[domain].set(id, enable != 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetDeviceId(CUcontext, uint32_t* device) {
  *device = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* time) {
  *time = cupti().clock ? cupti().clock() : realtime_ns();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  if (does("no-clock")) return CUPTI_ERROR_NOT_SUPPORTED;
  if (cupti().kinds.any()) abort();  // records would have two clocks
  cupti().clock = clock;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  cupti().request = request;
  cupti().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  cupti().kinds.set(static_cast<size_t>(kind));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, CUpti_Activity** record) {
  const auto size = [](const CUpti_Activity* at) -> size_t {
    switch (at->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
      default:
        return sizeof(CUpti_ActivityMemset4);
    }
  };
  uint8_t* const next = *record ? reinterpret_cast<uint8_t*>(*record) + size(*record) : buffer;
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* count) {
  *count = std::exchange(cupti().dropped, 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  Cupti& it = cupti();
  const bool force = flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
  if (does("late") && !force) return CUPTI_SUCCESS;
  while (does("stuck") && force) pause();
  const std::lock_guard lock(it.mutex);
  const uint64_t now = fake::now_ns();
  Writer writer;
  for (const fake::Task& task :
       fake::take_tasks([=](const fake::Task& one) { return force || one.end <= now; }))
    write(writer, task, task.end <= now);
  writer.hand_over();
  return CUPTI_SUCCESS;
}

}  // extern "C"
