#pragma once
// What CUPTI tells of the program's calls, as they begin and as they have returned, on the thread that makes
// them.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// For cuptiSubscribe().
void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept;

// Asks for the calls that are followed. CUPTI_SUCCESS, or why not; functions that this CUPTI does not know
// are left out.
CUptiResult follow_calls(CUpti_SubscriberHandle subscriber) noexcept;

// In a forked child: it has no device any more.
void forget_calls() noexcept;

}  // namespace hpcrun::cuda
