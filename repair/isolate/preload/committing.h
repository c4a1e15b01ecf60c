#pragma once
// For the files of libprof-isolate.so that interpose on synchronisation calls. The calling converted thread
// commits its private pages around each call: its own stores before the call publishes them, and those of
// others after it. In a thread without private pages this is a load and a branch.

#include <type_traits>

#include "hpcrun/guest/cancellation.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/interrupted_calls.h"

namespace hpcrun {

enum class Tells { Others, Us, Both };

// Not inlined, so that calls need no registers if the thread has no private pages.
[[gnu::noinline]] inline void keep_bytes_common(PrivatePages& pages, uint64_t low, size_t bytes) noexcept {
  constexpr auto kWhy = static_cast<uint64_t>(WhyShared::SyncObject);
  share_own_page(pages, low, kWhy);
  share_own_page(pages, low + bytes - 1, kWhy);
}

// Makes the pages of a synchronisation object common in the converted thread from now on.
template <typename Object>
inline void keep_common(const volatile Object* object) noexcept {
  constexpr size_t kBytes = [] {
    if constexpr (std::is_void_v<Object>)
      return size_t{1};
    else
      return sizeof(Object);
  }();
  PrivatePages* const pages = own_pages;
  const auto address = reinterpret_cast<uint64_t>(object);
  if (pages && pages->reaches(address, kBytes)) [[unlikely]]
    keep_bytes_common(*pages, address, kBytes);
}

// Lives during a call that works on a synchronisation object. The thread gets no page meanwhile, because that
// could be the object's. A thread that leaves the call by a jump gets no page any more.
class MeetsOthers {
 public:
  // Restores the previous value instead of decrementing. Calls in fast succession would otherwise wait for
  // each other's count, which goes through memory.
  MeetsOthers() noexcept : before_(open_regions) {
    open_regions = before_ + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~MeetsOthers() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    open_regions = before_;
    if (before_ == 0 && asked_in_region) [[unlikely]]
      ask_again();
  }
  MeetsOthers(const MeetsOthers&) = delete;
  MeetsOthers& operator=(const MeetsOthers&) = delete;

  // Called for a thread that is cancelled in the call.
  static void leave() noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (--open_regions == 0 && asked_in_region) [[unlikely]]
      ask_again();
  }

 private:
  const uint32_t before_;
};

template <Tells tells, typename Call>
inline auto committed(Call call) {
  if constexpr (tells != Tells::Us) commit_own_pages(Stores::Own);
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    if constexpr (tells != Tells::Others) commit_own_pages(Stores::Others);
  } else {
    const auto result = call();
    if constexpr (tells != Tells::Others) commit_own_pages(Stores::Others);
    return result;
  }
}

// For calls with a time limit: the time at which they began is kept, in case they have to be made again.
template <typename Call>
inline auto committed_until(Call call) {
  const TimedWait before = timed_wait;  // of a call that this handler interrupted
  timed_wait = {monotonic_ns(), reinterpret_cast<uint64_t>(__builtin_frame_address(0))};
  const auto result = committed<Tells::Both>(call);
  timed_wait = before;
  return result;
}

}  // namespace hpcrun

// HPCRUN_TELLS(direction, result, name, parameters, arguments, noexcept or nothing). HPCRUN_OBJECT is the
// same for calls whose first parameter, `object`, is a synchronisation object, and HPCRUN_WAITS for calls
// with a time limit.
#define HPCRUN_TELLS(tells, result, name, parameters, arguments, ...)                                        \
  HPCRUN_NEXT_OF(name);                                                                                      \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                                                         \
    return hpcrun::committed<hpcrun::Tells::tells>([&]() -> result { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                                                          \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_WAITS(result, name, parameters, arguments)                                    \
  HPCRUN_NEXT_OF(name);                                                                      \
  HPCRUN_EXPORT result name parameters {                                                     \
    return hpcrun::committed_until([&]() -> result { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                                          \
  static_assert(true)
#define HPCRUN_OBJECT(tells, result, name, parameters, arguments, ...) \
  HPCRUN_NEXT_OF(name);                                                \
  HPCRUN_OBJECT_BEHIND(tells, result, name, parameters, arguments, __VA_ARGS__)
// The same after HPCRUN_NEXT_OF_IF().
#define HPCRUN_OBJECT_BEHIND(tells, result, name, parameters, arguments, ...)                                \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                                                         \
    const hpcrun::MeetsOthers meets;                                                                         \
    hpcrun::keep_common(object);                                                                             \
    return hpcrun::committed<hpcrun::Tells::tells>([&]() -> result { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                                                          \
  static_assert(true)
#define HPCRUN_OTHER_NAME(other, name, type) \
  HPCRUN_EXPORT __attribute__((alias(#name), copy(name))) int other(type object) noexcept
