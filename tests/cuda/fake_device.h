#pragma once
// Internals of the fake driver: its objects, its device, and the implementation of its calls.

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fake_driver.h"

// CUDA's opaque types.
struct CUctx_st {
  int references = 0;
};
struct CUstream_st {
  uint32_t id;
  uint64_t end = 0;
  bool capturing = false;
  uint64_t event = 0;  // when the device passes the event that is last in the stream; else 0
};
struct CUfunc_st {
  std::string name;
};
struct CUmod_st {
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};
struct CUevent_st {
  CUcontext context = nullptr;
  uint64_t end = 0;  // when the device passes it; 0: not recorded
};
struct CUgraphNode_st {
  std::string name;
  uint64_t length;
};
struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;
  bool invalid = false;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};

namespace fake {

struct Driver {
  std::mutex mutex;
  bool initialised = false;
  uint64_t opened = 0;
  uint64_t waited = 0;
  uint64_t beside_tasks = 0;  // between tasks and the events before and after them
  CUctx_st context;           // the primary context
  std::vector<CUcontext> destroyed;
  CUstream_st default_stream{7, 0, false, 0};
  std::vector<CUstream_st*> streams{&default_stream};
  CUgraph_st* captured = nullptr;                  // while the stream is captured
  std::vector<Task> pending;                       // not yet taken by CUPTI
  std::vector<std::pair<uint64_t, uint64_t>> all;  // times of all tasks
  std::vector<void*> pinned;
  uint32_t last_stream = 7;
  long events = 0;
  int pid;
  Driver();
};
Driver& driver();

CUcontext& current_context();  // the thread's

// Writes the schedule to the file that FAKE_CUDA_SCHEDULE names.
void state_schedule();

void wait_until(uint64_t time);
void work_for(uint64_t ns);
uint64_t end_of_all();
CUstream_st& stream_of(CUstream stream);
bool is_default(CUstream stream);

// Returns when the task ends. The legacy default stream and other streams wait for each other.
uint64_t submit(CUstream stream, Task task, uint64_t length);

// Makes the capture fail if a stream is being captured, unless the thread has relaxed that.
void call_unsafe_in_capture();

CUresult driver_call(CUpti_driver_api_trace_cbid id, const char* name, const void* arguments,
                     const std::function<int()>& body, const char* symbol = nullptr);
void tell_resource(CUpti_CallbackIdResource id, CUstream stream);

}  // namespace fake

// The arguments as CUPTI's headers describe them, in the function's order.
#define FAKE_CALL(function, ...)                  \
  const function##_params arguments{__VA_ARGS__}; \
  return driver_call(CUPTI_DRIVER_TRACE_CBID_##function, #function, &arguments, [&]() -> int
#define FAKE_END )
