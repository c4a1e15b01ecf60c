/* The state of the program's memory: one handle per byte and kind of waste, in a mapping that shadows all of the
   program's address space. Fast paths handle an access whose bytes are all free, or all held by the same access;
   the rest steps through the automaton byte by byte.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include <emmintrin.h>

#include "profexact.h"

static inline UInt* shadow(enum PeKind kind, Addr a) {
  return (UInt*)(PE_SHADOW(kind) + (a & (PE_CLIENT_END - 1)) * sizeof(UInt));
}

static inline void count(Handle h) {
  ((ULong*)PE_COUNTS)[h]++;
}

/* Silent if the kind of waste needs that all bytes of the part are equal. */
static enum PeEvent event_of(enum PeEvent event, const UChar* differs, UInt from, UInt to) {
  if (event != PE_STORE_SAME) return event;
  for (UInt i = from; i < to; ++i)
    if (differs[i]) return PE_STORE_OTHER;
  return PE_STORE_SAME;
}

/* Steps all bytes of an access. Bytes with the same holder are one part of it: one access to the pair's memory. */
static void step_bytes(enum PeKind kind, enum PeEvent event, Addr a, UInt bytes, Handle h,
                       const UChar* differs) {
  UInt* const states = shadow(kind, a);
  for (UInt from = 0; from < bytes;) {
    const Handle state = states[from];
    UInt to = from + 1;
    while (to < bytes && states[to] == state) ++to;
    const enum PeEvent part = event_of(event, differs, from, to);
    int wasted = 0;
    const Handle next = pe_step(kind, part, state, h, &wasted);
    for (UInt i = from; i < to; ++i) states[i] = next;
    if (wasted) pe_add_pair(kind, state, h, a + from, to - from, bytes);
    from = to;
  }
}

static const UChar kSame[64];

/* Dead stores */

static inline Bool is_zero(__m128i value) {
  return _mm_movemask_epi8(_mm_cmpeq_epi32(value, _mm_setzero_si128())) == 0xffff;
}

static inline Bool is_all(__m128i value, __m128i other) {
  return _mm_movemask_epi8(_mm_cmpeq_epi32(value, other)) == 0xffff;
}

/* Stores to `bytes` (4 and more) that are a multiple of 4. */
static inline void dead_store(Addr a, Handle h, UInt bytes) {
  count(h);
  __m128i* const states = (__m128i*)shadow(PE_DEAD, a);
  const __m128i held = _mm_set1_epi32((int)h);
  __m128i any = _mm_loadu_si128(states);
  const __m128i first = _mm_shuffle_epi32(any, 0);
  Bool same = is_all(any, first);
  for (UInt i = 1; i < bytes / 4; ++i) {
    const __m128i part = _mm_loadu_si128(states + i);
    any = _mm_or_si128(any, part);
    same &= is_all(part, first);
  }
  if (is_zero(any)) {
    for (UInt i = 0; i < bytes / 4; ++i) _mm_storeu_si128(states + i, held);
  } else if (same) {
    pe_add_pair(PE_DEAD, (Handle)_mm_cvtsi128_si32(first), h, a, bytes, bytes);
    for (UInt i = 0; i < bytes / 4; ++i) _mm_storeu_si128(states + i, held);
  } else {
    step_bytes(PE_DEAD, PE_STORE_SAME, a, bytes, h, kSame);
  }
}

void pe_dead_store_1(Addr a, Handle h) {
  count(h);
  UInt* const state = shadow(PE_DEAD, a);
  if (*state != 0) pe_add_pair(PE_DEAD, *state, h, a, 1, 1);
  *state = h;
}

void pe_dead_store_2(Addr a, Handle h) {
  count(h);
  UInt* const states = shadow(PE_DEAD, a);
  if ((states[0] | states[1]) == 0)
    states[0] = states[1] = h;
  else
    step_bytes(PE_DEAD, PE_STORE_SAME, a, 2, h, kSame);
}

void pe_dead_store_4(Addr a, Handle h) {
  dead_store(a, h, 4);
}

void pe_dead_store_8(Addr a, Handle h) {
  dead_store(a, h, 8);
}

void pe_dead_store_16(Addr a, Handle h) {
  dead_store(a, h, 16);
}

/* `bytes` may be large: some instructions save all registers. */
void pe_dead_store_n(Addr a, Handle h, UInt bytes) {
  count(h);
  for (UInt at = 0; at < bytes; at += sizeof kSame) {
    const UInt rest = bytes - at;
    step_bytes(PE_DEAD, PE_STORE_SAME, a + at, rest < sizeof kSame ? rest : sizeof kSame, h, kSame);
  }
}

static void free_bytes(enum PeKind kind, Addr a, SizeT bytes) {
  UInt* const states = shadow(kind, a);
  for (SizeT i = 0; i < bytes; ++i)
    if (states[i] != 0) states[i] = 0;  /* a page that is only read takes no memory */
}

void pe_dead_load(Addr a, UInt bytes) {
  free_bytes(PE_DEAD, a, bytes);
}

/* Silent stores */

static void count_store(Handle h) {
  if (!pe_options.dead) count(h);
}

static void silent_store(Addr a, Handle h, UInt bytes, const ULong* differences, ULong any) {
  count_store(h);
  UChar differs[32];
  VG_(memcpy)(differs, differences, bytes);
  if (any == 0) {
    step_bytes(PE_SILENT, PE_STORE_SAME, a, bytes, h, kSame);
  } else {
    step_bytes(PE_SILENT, PE_STORE_SAME, a, bytes, h, differs);
  }
}

void pe_silent_store(Addr a, Handle h, UInt bytes, ULong difference) {
  silent_store(a, h, bytes, &difference, difference);
}

void pe_silent_store_16(Addr a, Handle h, ULong d0, ULong d1) {
  const ULong d[2] = {d0, d1};
  silent_store(a, h, 16, d, d0 | d1);
}

void pe_silent_store_32(Addr a, Handle h, ULong d0, ULong d1, ULong d2, ULong d3) {
  const ULong d[4] = {d0, d1, d2, d3};
  silent_store(a, h, 32, d, d0 | d1 | d2 | d3);
}

void pe_silent_store_unknown(Addr a, Handle h, UInt bytes) {
  count_store(h);
  step_bytes(PE_SILENT, PE_STORE_OTHER, a, bytes, h, kSame);
}

/* Redundant loads */

static void redundant_load_of_parts(Addr a, Handle h, UInt bytes) {
  for (UInt at = 0; at < bytes; at += sizeof kSame) {
    const UInt rest = bytes - at;
    step_bytes(PE_REDUNDANT, PE_LOAD, a + at, rest < sizeof kSame ? rest : sizeof kSame, h, kSame);
  }
}

/* Loads of `bytes` (4 and more) that are a multiple of 4. */
static inline void redundant_load(Addr a, Handle h, UInt bytes) {
  __m128i* const states = (__m128i*)shadow(PE_REDUNDANT, a);
  const __m128i part = _mm_loadu_si128(states);
  const __m128i first = _mm_shuffle_epi32(part, 0);
  Bool same = is_all(part, first);
  for (UInt i = 1; i < bytes / 4; ++i) same &= is_all(_mm_loadu_si128(states + i), first);
  if (UNLIKELY(!same)) {
    redundant_load_of_parts(a, h, bytes);
    return;
  }
  const Handle holder = (Handle)_mm_cvtsi128_si32(first);
  if (holder != 0) pe_add_pair(PE_REDUNDANT, holder, h, a, bytes, bytes);
  if (holder == h) return;
  const __m128i held = _mm_set1_epi32((int)h);
  for (UInt i = 0; i < bytes / 4; ++i) _mm_storeu_si128(states + i, held);
}

void pe_redundant_load(Addr a, Handle h, UInt bytes) {
  count(h);
  UInt* const state = shadow(PE_REDUNDANT, a);
  switch (bytes) {
    case 1:
      if (*state != 0) pe_add_pair(PE_REDUNDANT, *state, h, a, 1, 1);
      *state = h;
      return;
    case 4:
      redundant_load(a, h, 4);
      return;
    case 8:
      redundant_load(a, h, 8);
      return;
    case 16:
      redundant_load(a, h, 16);
      return;
    default:
      redundant_load_of_parts(a, h, bytes);
  }
}

void pe_redundant_change(Addr a, UInt bytes) {
  free_bytes(PE_REDUNDANT, a, bytes);
}

/* System calls */

void pe_kernel_load(Addr a, SizeT bytes) {
  if (pe_options.dead) free_bytes(PE_DEAD, a, bytes);
}

void pe_kernel_store(Addr a, SizeT bytes, Handle h) {
  if (pe_options.silent) free_bytes(PE_SILENT, a, bytes);
  if (pe_options.redundant) free_bytes(PE_REDUNDANT, a, bytes);
  if (!pe_options.dead) return;
  if (h == 0) {
    free_bytes(PE_DEAD, a, bytes);
    return;
  }
  /* In pieces, which is what `bytes` of step_bytes() allows. */
  for (SizeT at = 0; at < bytes; at += 1u << 30) {
    const SizeT rest = bytes - at;
    step_bytes(PE_DEAD, PE_KERNEL_STORE, a + at, rest < 1u << 30 ? (UInt)rest : 1u << 30, h, kSame);
  }
}
