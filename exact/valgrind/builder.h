/* Builds the instrumented code of one superblock.
   SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profexact.h"

#define PB_MAX_LOADED 8
#define PB_MAX_SLOTS 2048
#define PB_MAX_INSTRUCTIONS 1024

typedef struct {
  IRSB* out;
  Block* block;
  IRExpr* base;        /* the trace's first handle, I64; NULL: the superblock needs none */
  UInt offset;         /* of the current instruction */
  UChar access_number; /* of its next access */
  Addr next_instruction;
  /* Of the store that is being added. */
  IRExpr* changed;       /* condition: the bytes change; NULL: not compared */
  IRExpr* stored_handle; /* NULL: none yet */
  /* Loads since the last store. */
  struct {
    IRTemp address;
    UInt bytes;
  } loaded[PB_MAX_LOADED];
  UInt loaded_count;
  Bool in_segment;
  UInt segment; /* slot of the current run of instructions without a side exit */
  Slot slots[PB_MAX_SLOTS];
  UInt slot_count;
  UInt offsets[PB_MAX_INSTRUCTIONS];
  UInt offset_count;
} Builder;

IRExpr* pb_assign(Builder* b, IRType type, IRExpr* value);
IRExpr* pb_load(Builder* b, IRType type, HWord address);
IRExpr* pb_register(Builder* b, Int offset);
/* Returns an integer of up to 64 bits as one of 64. */
IRExpr* pb_integer(Builder* b, IRExpr* value);
/* Splits a value into numbers of up to 64 bits. Returns how many. */
UInt pb_parts(Builder* b, IRType type, IRExpr* value, IRExpr* parts[4]);

void pb_enter(Builder* b);
IRExpr* pb_handle(Builder* b, UInt kind, UInt bytes);
void pb_begin_instruction(Builder* b, IRStmt* mark);
void pb_end_segment(Builder* b);
void pb_finish(Builder* b);

/* True if these bytes were loaded before in this superblock, and nothing was stored since. */
Bool pb_was_loaded(Builder* b, const IRExpr* address, UInt bytes);
void pb_forget_loads(Builder* b);

void pb_call(Builder* b, IRExpr* guard, const HChar* name, void* function, IRExpr** arguments);
#define PB_CALL(b, function, arguments) pb_call(b, NULL, #function, (void*)&function, arguments)
#define PB_CALL_IF(b, guard, function, arguments) pb_call(b, guard, #function, (void*)&function, arguments)
