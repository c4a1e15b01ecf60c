#pragma once
// For the files of libhpcrun-isolate.so that stand in front of calls by which threads tell each other that
// memory was written: around each the private pages of the calling converted thread are committed, before it
// tells others and after it was told. In a thread that has none this is a load and a branch.

#include <type_traits>

#include "hpcrun/guest/behind.h"
#include "hpcrun/guest/cancellation.h"
#include "hpcrun/guest/clock.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/interrupted_calls.h"

namespace hpcrun {

enum class Tells { Others, Us, Both };

// Apart, so that calls need no registers where the thread has no private pages.
[[gnu::noinline]] inline void keep_bytes_common(PrivatePages& pages, uint64_t low,
                                                           size_t bytes) noexcept {
  constexpr auto kWhy = static_cast<uint64_t>(WhyShared::SyncObject);
  share_own_page(pages, low, kWhy);
  share_own_page(pages, low + bytes - 1, kWhy);
}

// What threads meet at lies on no private page of the converted thread from now on.
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

// In a call that works on what threads meet at: the thread gets no page meanwhile, which may be that of the
// object. Who leaves the call by a jump gets none any more.
class MeetsOthers {
 public:
  // What was before is kept, not counted back: calls that follow each other fast would wait for each other's
  // counting, which goes through memory.
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

  // Of a thread that is cancelled in the call.
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

// Of calls that wait for a time at most: when that ends is known if they have to be made again.
template <typename Call>
inline auto committed_until(Call call) {
  const TimedWait before = timed_wait;  // of a call that a handler interrupted
  timed_wait = {monotonic_ns(), reinterpret_cast<uint64_t>(__builtin_frame_address(0))};
  const auto result = committed<Tells::Both>(call);
  timed_wait = before;
  return result;
}

}  // namespace hpcrun

// HPCRUN_TELLS(who, result, name, parameters, arguments, noexcept or nothing); HPCRUN_OBJECT the same for
// calls whose first parameter, `object`, is what threads meet at; HPCRUN_WAITS of calls that wait for a time
// at most.
#define HPCRUN_TELLS(tells, result, name, parameters, arguments, ...) \
  HPCRUN_STAND_BEFORE(name);                                          \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                  \
    return hpcrun::committed<hpcrun::Tells::tells>(                   \
        [&]() -> result { return HPCRUN_BEHIND(name) arguments; });   \
  }                                                                   \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_WAITS(result, name, parameters, arguments)                                      \
  HPCRUN_STAND_BEFORE(name);                                                                   \
  HPCRUN_EXPORT result name parameters {                                                       \
    return hpcrun::committed_until([&]() -> result { return HPCRUN_BEHIND(name) arguments; }); \
  }                                                                                            \
  static_assert(true)
#define HPCRUN_OBJECT(tells, result, name, parameters, arguments, ...) \
  HPCRUN_STAND_BEFORE(name);                                           \
  HPCRUN_OBJECT_BEHIND(tells, result, name, parameters, arguments, __VA_ARGS__)
// The same behind HPCRUN_STAND_BEFORE_WHERE().
#define HPCRUN_OBJECT_BEHIND(tells, result, name, parameters, arguments, ...) \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                          \
    const hpcrun::MeetsOthers meets;                                          \
    hpcrun::keep_common(object);                                              \
    return hpcrun::committed<hpcrun::Tells::tells>(                           \
        [&]() -> result { return HPCRUN_BEHIND(name) arguments; });           \
  }                                                                           \
  static_assert(true)
#define HPCRUN_OTHER_NAME(other, name, type) \
  HPCRUN_EXPORT __attribute__((alias(#name), copy(name))) int other(type object) noexcept
