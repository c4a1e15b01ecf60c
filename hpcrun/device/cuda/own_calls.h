#pragma once
// Makes the runtime's own calls of the driver, between the program's.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// Sets the relaxed capture mode as long as it lives. While streams are captured, the driver refuses many
// functions, and ends the capture, unless the thread is in that mode.
class OwnCalls {
 public:
  OwnCalls() noexcept { driver.exchange_capture_mode(&mode_); }
  ~OwnCalls() { driver.exchange_capture_mode(&mode_); }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Makes a context the thread's current one as long as it lives.
class InContext {
 public:
  explicit InContext(CUcontext context) noexcept {
    CUcontext current = nullptr;
    if (driver.context_current(&current) == CUDA_SUCCESS && current == context) return;
    is_pushed_ = driver.context_push(context) == CUDA_SUCCESS;
  }
  ~InContext() {
    CUcontext popped = nullptr;
    if (is_pushed_) driver.context_pop(&popped);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool is_pushed_ = false;
};

}  // namespace hpcrun::cuda
