#pragma once
// For the files of libhpcrun-isolate.so that stand in front of calls by which threads tell each other that
// memory was written: around each the private pages of the calling twin are committed, before it tells others
// and after it was told. In a thread that has none this is a load and a branch.

#include <type_traits>

#include "hpcrun/guest/behind.h"
#include "hpcrun/guest/cancellation.h"
#include "repair/isolate/interface.h"
#include "repair/isolate/own_pages.h"

namespace hpcrun {

enum class Tells { Others, Us, Both };

// What threads meet at lies on no private page of the twin from now on.
inline void keep_common(const volatile void* object) {
  if (PrivatePages* const pages = own_pages) [[unlikely]]
    share_own_page(*pages, reinterpret_cast<uint64_t>(object), static_cast<uint64_t>(WhyShared::SyncObject));
}

template <Tells tells, typename Call>
inline auto committed(Call call) {
  if constexpr (tells != Tells::Us) commit_own_pages();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    if constexpr (tells != Tells::Others) commit_own_pages();
  } else {
    const auto result = call();
    if constexpr (tells != Tells::Others) commit_own_pages();
    return result;
  }
}

// A thread that is cancelled meanwhile has the mutex again when its cleanup begins.
template <typename Call>
inline auto committed_wait(Call call) {
  return committed<Tells::Both>([call] { return unless_cancelled(call, [] { commit_own_pages(); }); });
}

}  // namespace hpcrun

// HPCRUN_TELLS(who, result, name, parameters, arguments, noexcept or nothing); HPCRUN_OBJECT the same for
// calls whose first parameter, `object`, is what threads meet at.
#define HPCRUN_TELLS(tells, result, name, parameters, arguments, ...) \
  HPCRUN_STAND_BEFORE(name);                                          \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                  \
    return hpcrun::committed<hpcrun::Tells::tells>(                   \
        [&]() -> result { return HPCRUN_BEHIND(name) arguments; });   \
  }                                                                   \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_OBJECT(tells, result, name, parameters, arguments, ...) \
  HPCRUN_STAND_BEFORE(name);                                           \
  HPCRUN_EXPORT result name parameters __VA_ARGS__ {                   \
    hpcrun::keep_common(object);                                       \
    return hpcrun::committed<hpcrun::Tells::tells>(                    \
        [&]() -> result { return HPCRUN_BEHIND(name) arguments; });    \
  }                                                                    \
  static_assert(true)
#define HPCRUN_CONDITION(name, parameters, arguments)                                      \
  HPCRUN_STAND_BEFORE(name);                                                               \
  HPCRUN_EXPORT int name parameters {                                                      \
    hpcrun::keep_common(object);                                                           \
    hpcrun::keep_common(mutex);                                                            \
    return hpcrun::committed_wait([=]() -> int { return HPCRUN_BEHIND(name) arguments; }); \
  }                                                                                        \
  static_assert(true)
#define HPCRUN_OTHER_NAME(other, name, type) \
  HPCRUN_EXPORT __attribute__((alias(#name), copy(name))) int other(type object) noexcept
