#pragma once
// The functions of CUDA's driver and runtime that are followed, as data: what each gives a device to do and
// what it waits for. A function of the runtime calls the driver's, which do the work; its row says what the
// program called.

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
  Copy,  // of which kind is known when it has run
  Fill,
  Graph,        // all that is in it
  Instantiate,  // of a graph, which tells how much is in it
  MarkEvent,    // an event stands for what its stream has to do until there
  BeginCapture,
  EndCapture
};

enum class Awaited : uint8_t { Nothing, Stream, Context, Event };

struct FollowedCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* symbol;  // that the program calls
  CallKind kind;
  Work work;
  Awaited awaited;
  bool per_thread;                                        // stream 0 is the thread's own
  CUstream (*stream)(const void* call);                   // nullptr: stream 0
  Extent (*extent)(const void* call) noexcept = nullptr;  // of copies and fills by the driver's functions
};

std::span<const FollowedCall> followed_calls() noexcept;

// nullptr: not followed.
const FollowedCall* find_call(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;

// What stands for a call in call paths; nullptr: not known, or in the program itself.
const void* function_of(const FollowedCall& call) noexcept;

// Fills what the two above look up. `driver` is the library's handle.
void prepare_calls(void* driver) noexcept;

}  // namespace hpcrun::cuda
