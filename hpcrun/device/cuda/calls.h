#pragma once
// Lists the functions of CUDA's driver and runtime that are followed, as data: the work that each submits,
// and what it waits for. A function of the runtime calls the driver's functions, which do the work. Its row
// has the name that the program called.

#include <cstdint>
#include <span>

#include "hpcrun/device/cuda/api.h"
#include "hpcrun/device/cuda/extents.h"
#include "hpcrun/device/engine.h"

namespace hpcrun::cuda {

enum class Work : uint8_t {
  None,
  Kernel,
  CopyToDevice,
  CopyFromDevice,
  Copy,  // its kind is known once it has run
  Fill,
  Graph,        // all tasks of the graph
  Instantiate,  // of a graph; determines its number of tasks
  MarkEvent,    // an event then represents the work submitted to its stream so far
  BeginCapture,
  EndCapture
};

enum class Awaited : uint8_t { Nothing, Stream, Context, Event };

struct FollowedCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* symbol;  // the symbol that the program calls
  CallKind kind;
  Work work;
  Awaited awaited;
  bool per_thread;                                        // stream 0 is the thread's own
  CUstream (*stream)(const void* call);                   // nullptr: stream 0
  // Size of copies and fills, from the arguments of the driver's function.
  Extent (*extent)(const void* call) noexcept = nullptr;
};

std::span<const FollowedCall> followed_calls() noexcept;

// Returns nullptr if the call is not followed.
const FollowedCall* find_call(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;

// Returns the function that represents a call in call paths. Returns nullptr if it is not known, or is in the
// program itself.
const void* function_of(const FollowedCall& call) noexcept;

// Fills the tables of the two functions above. `driver` is the library's handle.
void prepare_calls(void* driver) noexcept;

}  // namespace hpcrun::cuda
