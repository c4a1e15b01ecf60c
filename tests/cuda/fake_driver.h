#pragma once
// The interface of the fake driver (libcuda.so.1) for the fake CUPTI (libcupti.so.13) and the fake runtime
// (libcudart.so.13).
//
// The device is only a schedule. A task starts at least kLaunchLatencyNs after it was submitted, when the
// stream's previous task has ended, and lasts as long as its launch says. Calls that wait sleep until then.

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Returns the name of a graph's node; also for programs.
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

// The callback that CUPTI installs; nullptr until CUPTI is used.
struct Tools {
  void (*callback)(CUpti_CallbackDomain, CUpti_CallbackId, const void*) = nullptr;
};

Tools& tools();
// Takes the tasks that CUPTI has not taken yet, in the order of submission.
std::vector<Task> take_tasks(const std::function<bool(const Task&)>& which);
uint64_t now_ns();

struct Call {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* name;
  const void* arguments;
  const char* symbol;
};
// Executes the call between CUPTI's callbacks.
int call(const Call& what, const std::function<int()>& body);

}  // namespace fake
