// C++'s operators new and delete are those of the C++ library, which call malloc() and free(). An allocator's
// own operators would bypass all functions that interpose on these, ours and those that report allocations to
// the runtime. (If memory is not tracked, they are what they would be without the allocator.)

#include <stdlib.h>

#include <cstdint>

#include "hpcrun/guest/tail_calls.h"
#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/preload/cxx_library.h"

namespace {

// Sizes, alignments, addresses: any operator takes at most three words.
using Operator = void*(uintptr_t, uintptr_t, uintptr_t);

// For programs that load C++ after their start, and if no operator is found. They cannot throw.
[[gnu::cold]] void* try_aligned(uintptr_t bytes, uintptr_t align, uintptr_t) {
  return align > 16 ? aligned_alloc(align, bytes ? bytes : 1) : malloc(bytes ? bytes : 1);
}
[[gnu::cold]] void* try_plain(uintptr_t bytes, uintptr_t, uintptr_t) {
  return try_aligned(bytes, 0, 0);
}
[[gnu::cold]] void* new_aligned(uintptr_t bytes, uintptr_t align, uintptr_t) {
  void* const at = try_aligned(bytes, align, 0);
  if (!at) abort();
  return at;
}
[[gnu::cold]] void* new_plain(uintptr_t bytes, uintptr_t, uintptr_t) {
  return new_aligned(bytes, 0, 0);
}
[[gnu::cold]] void* release(uintptr_t at, uintptr_t, uintptr_t) {
  free(reinterpret_cast<void*>(at));
  return nullptr;
}

}  // namespace

// The calling context of an allocation must not contain our frames.
#define HPCRUN_OPERATOR(symbol, version, substitute)                                          \
  using hpcrun_type_of_##symbol = Operator;                                                   \
  HPCRUN_FIND_NEXT(hpcrun::has_cxx_library(), symbol, {#symbol, version});                    \
  HPCRUN_EXPORT void* hpcrun_operator_##symbol(uintptr_t, uintptr_t, uintptr_t) asm(#symbol); \
  HPCRUN_TAIL_CALLS void* hpcrun_operator_##symbol(uintptr_t a, uintptr_t b, uintptr_t c) {   \
    Operator* const next = HPCRUN_NEXT(symbol);                                               \
    return (next ? next : substitute)(a, b, c);                                               \
  }                                                                                           \
  static_assert(true) /* takes the semicolon */

HPCRUN_OPERATOR(_Znwm, "GLIBCXX_3.4", new_plain);
HPCRUN_OPERATOR(_Znam, "GLIBCXX_3.4", new_plain);
HPCRUN_OPERATOR(_ZnwmRKSt9nothrow_t, "GLIBCXX_3.4", try_plain);
HPCRUN_OPERATOR(_ZnamRKSt9nothrow_t, "GLIBCXX_3.4", try_plain);
HPCRUN_OPERATOR(_ZnwmSt11align_val_t, "CXXABI_1.3.11", new_aligned);
HPCRUN_OPERATOR(_ZnamSt11align_val_t, "CXXABI_1.3.11", new_aligned);
HPCRUN_OPERATOR(_ZnwmSt11align_val_tRKSt9nothrow_t, "CXXABI_1.3.11", try_aligned);
HPCRUN_OPERATOR(_ZnamSt11align_val_tRKSt9nothrow_t, "CXXABI_1.3.11", try_aligned);
HPCRUN_OPERATOR(_ZdlPv, "GLIBCXX_3.4", release);
HPCRUN_OPERATOR(_ZdaPv, "GLIBCXX_3.4", release);
HPCRUN_OPERATOR(_ZdlPvm, "CXXABI_1.3.9", release);
HPCRUN_OPERATOR(_ZdaPvm, "CXXABI_1.3.9", release);
HPCRUN_OPERATOR(_ZdlPvRKSt9nothrow_t, "GLIBCXX_3.4", release);
HPCRUN_OPERATOR(_ZdaPvRKSt9nothrow_t, "GLIBCXX_3.4", release);
HPCRUN_OPERATOR(_ZdlPvSt11align_val_t, "CXXABI_1.3.11", release);
HPCRUN_OPERATOR(_ZdaPvSt11align_val_t, "CXXABI_1.3.11", release);
HPCRUN_OPERATOR(_ZdlPvmSt11align_val_t, "CXXABI_1.3.11", release);
HPCRUN_OPERATOR(_ZdaPvmSt11align_val_t, "CXXABI_1.3.11", release);
HPCRUN_OPERATOR(_ZdlPvSt11align_val_tRKSt9nothrow_t, "CXXABI_1.3.11", release);
HPCRUN_OPERATOR(_ZdaPvSt11align_val_tRKSt9nothrow_t, "CXXABI_1.3.11", release);
