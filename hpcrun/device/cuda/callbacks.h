#pragma once
// Handles CUPTI's callbacks for the program's calls, as they begin and as they have returned, on the thread
// that makes them.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// The callback for cuptiSubscribe().
void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept;

// Requests callbacks for the calls that are followed. Returns CUPTI_SUCCESS, or the error. Functions that
// this CUPTI does not support are left out.
CUptiResult follow_calls(CUpti_SubscriberHandle subscriber) noexcept;

// Resets the state in a forked child, which has no device.
void reset_calls_after_fork() noexcept;

}  // namespace hpcrun::cuda
