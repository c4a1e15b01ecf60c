#pragma once
// What the fake driver (libcuda.so.1) shows to the fake CUPTI (libcupti.so.13) and the fake runtime
// (libcudart.so.13).
//
// The device is a schedule and no more: a task starts when it was submitted and the stream's last one has
// ended, at the earliest kLaunchLatency_ns later, and lasts as long as its launch says. Calls that wait sleep
// until then.

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Of a graph's node; for programs as well.
extern "C" const char* fake_node_name(CUgraphNode node);

namespace fake {

enum class Kind { Kernel, Copy, Fill };

struct Task {
  Kind kind;
  std::string name;
  uint8_t copy_kind;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t stream;
  uint32_t correlation;
  uint64_t graph_node;
};

// What CUPTI stands in for: nullptr until it is asked for anything.
struct Tools {
  void (*callback)(CUpti_CallbackDomain, CUpti_CallbackId, const void*) = nullptr;
};

Tools& tools();
// The tasks that have not been taken by CUPTI yet, in the order of submission.
std::vector<Task> take_tasks(const std::function<bool(const Task&)>& which);
uint64_t now_ns();

struct Call {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* name;
  const void* arguments;
  const char* symbol;
};
// Does what the call does, between CUPTI's callbacks.
int call(const Call& what, const std::function<int()>& body);

}  // namespace fake
