/* Pairs of accesses of which one was wasted, and how often.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "profexact.h"

/* 2^27 pairs, more than programs of any size have. Further ones are not recorded. */
#define MAX_PAIRS (1u << 27)

static UInt* table; /* 1 + index of a pair */
static UInt table_size;
static UInt pair_count = 1; /* the first is not used: PairCache.pair 0 is none */

static Pair* pair_at(UInt index) {
  return &((Pair*)PE_PAIRS)[index];
}

void pe_init_pairs(void) {
  table_size = 1u << 12;
  table = VG_(calloc)("pe.pairs", table_size, sizeof *table);
  pe_reserve(PE_PAIRS, (SizeT)MAX_PAIRS * sizeof(Pair));
}

static UInt hash_of(UInt kind, Handle first, Handle second) {
  ULong mixed = ((ULong)first << 32 | second) * 0x9e3779b97f4a7c15ULL + kind;
  mixed ^= mixed >> 29;
  return (UInt)((mixed * 0xbf58476d1ce4e5b9ULL) >> 32);
}

static UInt* place_of(UInt kind, Handle first, Handle second) {
  UInt at = hash_of(kind, first, second) & (table_size - 1);
  while (table[at] != 0) {
    const Pair* const pair = pair_at(table[at]);
    if (pair->first == first && pair->second == second && pair->kind == kind) break;
    at = (at + 1) & (table_size - 1);
  }
  return &table[at];
}

static void grow(void) {
  VG_(free)(table);
  table_size *= 2;
  table = VG_(calloc)("pe.pairs", table_size, sizeof *table);
  for (UInt i = 1; i < pair_count; ++i) {
    const Pair* const pair = pair_at(i);
    *place_of(pair->kind, pair->first, pair->second) = i;
  }
}

/* Returns 0 if there is no room for another pair. */
UInt pe_find_pair(enum PeKind kind, Handle first, Handle second, Addr address, UInt access_bytes) {
  UInt* place = place_of(kind, first, second);
  if (*place != 0 || pair_count == MAX_PAIRS) return *place;
  if (pair_count * 2 > table_size) {
    grow();
    place = place_of(kind, first, second);
  }
  *place = pair_count++;
  Pair* const pair = pair_at(*place);
  pair->first = first;
  pair->second = second;
  pair->kind = (UChar)kind;
  pair->address = address;
  pair->access_bytes = (UShort)access_bytes;
  pair->allocation = pe_allocation_of(address);
  return *place;
}

UInt pe_pair_count(void) {
  return pair_count;
}

void pe_forget_pairs(void) {
  for (UInt i = 1; i < pair_count; ++i) pair_at(i)->count = pair_at(i)->bytes = 0;
}
