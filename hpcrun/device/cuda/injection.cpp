// How the driver finds us: it opens the library that CUDA_INJECTION64_PATH names as the program initialises
// it, also in programs that hold CUDA's runtime in themselves, and calls InitializeInjection().

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>

#include "hpcrun/device/cuda/callbacks.h"
#include "hpcrun/device/cuda/calls.h"
#include "hpcrun/device/cuda/library.h"
#include "hpcrun/device/cuda/records.h"

namespace hpcrun::cuda {

namespace {

constexpr const char* kLost = "what runs on the GPU is not measured";

template <typename... Values>
void note(const char* format, Values... values) noexcept {
  char text[768];
  snprintf(text, sizeof text, format, values...);
  note_degradation(text);
}

void note_unusable(const CuptiLibrary& library) noexcept {
  switch (library.state) {
    case CuptiState::Missing:
      return note(library.path[0] && getenv("PROF_CUPTI")
                      ? "CUDA: cannot load %s, which PROF_CUPTI names; %s"
                      : "CUDA: %slibcupti.so is not found; install CUDA's CUPTI (in Python: "
                        "nvidia-cuda-cupti), or name "
                        "the file in PROF_CUPTI; %s",
                  getenv("PROF_CUPTI") ? library.path : "", kLost);
    case CuptiState::TooOld:
      return note(
          "CUDA: %s is CUPTI of API version %u, of before CUDA 12; name a newer one in PROF_CUPTI; %s",
          library.path, library.version, kLost);
    case CuptiState::TooNew:
      return note("CUDA: %s is CUPTI of API version %u; this prof knows those of CUDA 12 and 13; %s",
                  library.path, library.version, kLost);
    default:
      return note("CUDA: %s lacks functions of CUPTI; %s", library.path, kLost);
  }
}

void note_refusal(CUptiResult result, const char* other) noexcept {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    note("CUDA: CUPTI is in use by %s, and serves one tool at a time; %s", other[0] ? other : "another tool",
         kLost);
  else
    note("CUDA: CUPTI refuses to work (error %d); %s", static_cast<int>(result), kLost);
}

CUptiResult subscribe(CUpti_SubscriberHandle& subscriber,
                      char (&other)[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN]) noexcept {
  other[0] = '\0';
  if (!cupti.subscribe_v2) return cupti.cuptiSubscribe(&subscriber, on_callback, nullptr);
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "prof";
  parameters.oldSubscriberName = other;
  parameters.oldSubscriberSize = sizeof other;
  return cupti.subscribe_v2(&subscriber, on_callback, nullptr, &parameters);
}

// Before the destructors of the driver's libraries.
void at_exit() noexcept {
  finish_records();
}

void after_fork_in_child() noexcept {
  forget_calls();
  forget_objects();
  forget_records();
}

void start() noexcept {
  void* const driver_library = load_driver();
  if (!driver_library) return;
  CuptiLibrary library;
  load_cupti(library);
  if (library.state != CuptiState::Ready) return note_unusable(library);
  prepare_calls(driver_library);
  CUpti_SubscriberHandle subscriber = nullptr;
  char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
  CUptiResult result = subscribe(subscriber, other);
  if (result != CUPTI_SUCCESS) return note_refusal(result, other);
  leave_out_library(reinterpret_cast<const void*>(cupti.cuptiGetVersion));
  leave_out_library(reinterpret_cast<const void*>(driver.driver_version));
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  result = start_records();
  if (result == CUPTI_SUCCESS) result = follow_calls(subscriber);
  if (result != CUPTI_SUCCESS) {
    cupti.cuptiUnsubscribe(subscriber);
    return note_refusal(result, "");
  }
  atexit(at_exit);
}

}  // namespace

}  // namespace hpcrun::cuda

// 1: all is well, also where nothing can be measured. The program goes on either way.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() noexcept {
  static std::atomic<bool> started{false};
  if (!started.exchange(true)) hpcrun::cuda::start();
  return 1;
}
