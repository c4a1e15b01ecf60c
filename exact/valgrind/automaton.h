/* The state of one byte of the program's memory, and what an access does to it. Pure: also compiled into the
   tests. A state is 0 (free) or the handle of the access that last held the byte. Each kind of waste has an
   automaton of its own, with the same states and events.
   SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
#pragma once

#include <stdint.h>

enum PeKind { PE_DEAD, PE_SILENT, PE_REDUNDANT, PE_KINDS };

enum PeEvent {
  PE_LOAD,         /* by the program; dead stores: by the kernel too */
  PE_STORE_OTHER,  /* a store that changes the bytes */
  PE_STORE_SAME,   /* a store of the bytes that are there */
  PE_KERNEL_STORE, /* a system call wrote the bytes */
  PE_RESET,        /* the memory was mapped, unmapped or freed */
  PE_EVENTS
};

enum PeStateClass { PE_FREE, PE_HELD, PE_STATE_CLASSES };

enum PeNext { PE_KEEP, PE_CLEAR, PE_TAKE };

typedef struct {
  uint8_t next;   /* PeNext; PE_TAKE: the handle of this access */
  uint8_t wasted; /* the pair of the holder and this access is one of waste */
} PeRule;

/* dead store       held by a store whose bytes were not loaded; the next store makes it dead
   silent store     held by the last store; the next store of the same bytes is silent
   redundant load   held by the last load; the next load is redundant, unless a store changed the bytes */
static const PeRule kPeRules[PE_KINDS][PE_EVENTS][PE_STATE_CLASSES] = {
    [PE_DEAD] = {[PE_LOAD] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}},
                 [PE_STORE_OTHER] = {{PE_TAKE, 0}, {PE_TAKE, 1}},
                 [PE_STORE_SAME] = {{PE_TAKE, 0}, {PE_TAKE, 1}},
                 [PE_KERNEL_STORE] = {{PE_CLEAR, 0}, {PE_CLEAR, 1}},
                 [PE_RESET] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}}},
    [PE_SILENT] = {[PE_LOAD] = {{PE_KEEP, 0}, {PE_KEEP, 0}},
                   [PE_STORE_OTHER] = {{PE_TAKE, 0}, {PE_TAKE, 0}},
                   [PE_STORE_SAME] = {{PE_TAKE, 0}, {PE_TAKE, 1}},
                   [PE_KERNEL_STORE] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}},
                   [PE_RESET] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}}},
    [PE_REDUNDANT] = {[PE_LOAD] = {{PE_TAKE, 0}, {PE_TAKE, 1}},
                      [PE_STORE_OTHER] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}},
                      [PE_STORE_SAME] = {{PE_KEEP, 0}, {PE_KEEP, 0}},
                      [PE_KERNEL_STORE] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}},
                      [PE_RESET] = {{PE_CLEAR, 0}, {PE_CLEAR, 0}}},
};

/* Returns the next state. Sets *wasted if the bytes' holder and `handle` are a pair of waste. */
static inline uint32_t pe_step(enum PeKind kind, enum PeEvent event, uint32_t state, uint32_t handle,
                               int* wasted) {
  const PeRule rule = kPeRules[kind][event][state == 0 ? PE_FREE : PE_HELD];
  *wasted = rule.wasted;
  return rule.next == PE_TAKE ? handle : rule.next == PE_CLEAR ? 0 : state;
}
