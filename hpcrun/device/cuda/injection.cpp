// Entry point for CUDA's driver: when the program initializes the driver, it opens the library named by
// CUDA_INJECTION64_PATH and calls InitializeInjection(). This works also for programs that link CUDA's
// runtime statically. Times come from CUPTI. If CUPTI is not available, or with PROF_CUDA_MODE=events, they
// come from events in the program's streams. With PROF_CUDA_MODE=cupti, devices are not measured instead.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "hpcrun/device/cuda/callbacks.h"
#include "hpcrun/device/cuda/calls.h"
#include "hpcrun/device/cuda/event_times.h"
#include "hpcrun/device/cuda/hooks.h"
#include "hpcrun/device/cuda/kernel_names.h"
#include "hpcrun/device/cuda/library.h"
#include "hpcrun/device/cuda/records.h"

namespace hpcrun::cuda {

namespace {

enum class Mode : uint8_t { Any, Cupti, Events };

constinit bool falls_back = false;

Mode asked_mode() noexcept {
  const char* const asked = getenv("PROF_CUDA_MODE");
  if (asked && strcmp(asked, "events") == 0) return Mode::Events;
  return asked && strcmp(asked, "cupti") == 0 ? Mode::Cupti : Mode::Any;
}

constexpr const char* kDriverTooOld =
    "CUDA: the driver is older than CUDA 10.1 and lacks functions for timing by events; GPU work is not "
    "measured";

template <typename... Values>
void note(const char* format, Values... values) noexcept {
  char text[768];
  const int length = snprintf(text, sizeof text, format, values...);
  if (length > 0 && length < static_cast<int>(sizeof text))
    snprintf(text + length, sizeof text - static_cast<size_t>(length), "; %s",
             falls_back ? "GPU work is timed by events in its streams: each task takes a few microseconds "
                          "longer, and kernels of several streams that ran alternately may appear concurrent"
                        : "GPU work is not measured");
  note_degradation(text);
}

void note_unusable(const CuptiLibrary& library) noexcept {
  switch (library.state) {
    case CuptiState::Missing:
      return getenv("PROF_CUPTI") ? note("CUDA: cannot load %s, the library in PROF_CUPTI", library.path)
                                  : note("%s",
                                         "CUDA: libcupti.so was not found; install CUDA's CUPTI (in Python: "
                                         "nvidia-cuda-cupti), or set PROF_CUPTI to the file");
    case CuptiState::TooOld:
      return note("CUDA: %s is CUPTI of API version %u, older than CUDA 12; set PROF_CUPTI to a newer one",
                  library.path, library.version);
    case CuptiState::TooNew:
      return note("CUDA: %s is CUPTI of API version %u; this prof supports CUDA 12 and 13", library.path,
                  library.version);
    default:
      return note("CUDA: %s lacks functions of CUPTI", library.path);
  }
}

void note_refusal(CUptiResult result, const char* other) noexcept {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    note("CUDA: CUPTI is in use by %s, and supports one tool at a time (error 39)",
         other[0] ? other : "another tool");
  else
    note("CUDA: CUPTI could not be started (error %d)", static_cast<int>(result));
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

// Runs before the destructors of the driver's libraries.
void at_exit() noexcept {
  uses_event_times() ? finish_event_times() : finish_records();
}

void after_fork_in_child() noexcept {
  reset_calls_after_fork();
  reset_hooks_after_fork();
  reset_event_times_after_fork();
  reset_kernels_after_fork();
  reset_objects_after_fork();
  reset_outstanding_after_fork();
  reset_records_after_fork();
}

void follow(void* driver_library) noexcept {
  prepare_calls(driver_library);
  leave_out_library(reinterpret_cast<const void*>(driver.driver_version));
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  atexit(at_exit);
  flush_at_sudden_end(at_exit);
}

// Returns false after reporting why it failed.
bool start_cupti(void* driver_library) noexcept {
  CuptiLibrary library;
  load_cupti(library);
  if (library.state != CuptiState::Ready) {
    note_unusable(library);
    return false;
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
  CUptiResult result = subscribe(subscriber, other);
  if (result != CUPTI_SUCCESS) {
    note_refusal(result, other);
    return false;
  }
  prepare_calls(driver_library);
  result = start_records();
  if (result == CUPTI_SUCCESS) result = follow_calls(subscriber);
  if (result != CUPTI_SUCCESS) {
    cupti.cuptiUnsubscribe(subscriber);
    note_refusal(result, "");
    return false;
  }
  leave_out_library(reinterpret_cast<const void*>(cupti.cuptiGetVersion));
  return true;
}

void start_events(void* driver_library) noexcept {
  // A CUPTI that is in use by another tool, or incomplete, is not used at all.
  cupti = CuptiFunctions{};
  if (!start_event_times()) return note_degradation(kDriverTooOld);
  follow(driver_library);
  follow_hooks(driver_library);
}

void start() noexcept {
  void* const driver_library = load_driver();
  if (!driver_library) return;
  const Mode mode = asked_mode();
  falls_back = mode != Mode::Cupti;
  if (mode != Mode::Events && start_cupti(driver_library)) return follow(driver_library);
  if (mode == Mode::Events) note("%s", "CUDA: CUPTI is not used, because PROF_CUDA_MODE=events is set");
  if (falls_back) start_events(driver_library);
}

// Programs that open the driver's library look up its functions next, before they initialize the driver.
void before_driver() noexcept {
  const char* const injected = getenv("CUDA_INJECTION64_PATH");
  const char* const name = injected ? strrchr(injected, '/') : nullptr;
  if (name && strcmp(name, "/libprof-runtime.so") == 0 && asked_mode() != Mode::Cupti) stand_by();
}

__attribute__((constructor)) void watch_for_driver() noexcept {
  watch_library("libcuda.so", before_driver);
}

}  // namespace

}  // namespace hpcrun::cuda

// Returns 1, success, even if nothing can be measured. The program continues either way.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() noexcept {
  static std::atomic<bool> started{false};
  if (!started.exchange(true)) hpcrun::cuda::start();
  return 1;
}
