/* Builds the instrumented code of one superblock.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder.h"

IRExpr* pb_assign(Builder* b, IRType type, IRExpr* value) {
  const IRTemp temp = newIRTemp(b->out->tyenv, type);
  addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
  return IRExpr_RdTmp(temp);
}

IRExpr* pb_load(Builder* b, IRType type, HWord address) {
  return pb_assign(b, type, IRExpr_Load(Iend_LE, type, mkIRExpr_HWord(address)));
}

IRExpr* pb_register(Builder* b, Int offset) {
  return pb_assign(b, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static IRExpr* convert(Builder* b, IROp op, IRExpr* value) {
  return pb_assign(b, Ity_I64, IRExpr_Unop(op, value));
}

IRExpr* pb_integer(Builder* b, IRExpr* value) {
  switch (typeOfIRExpr(b->out->tyenv, value)) {
    case Ity_I8:
      return convert(b, Iop_8Uto64, value);
    case Ity_I16:
      return convert(b, Iop_16Uto64, value);
    case Ity_I32:
      return convert(b, Iop_32Uto64, value);
    case Ity_F64:
      return convert(b, Iop_ReinterpF64asI64, value);
    case Ity_F32:
      return convert(b, Iop_32Uto64,
                     pb_assign(b, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, value)));
    case Ity_I64:
      return value;
    default:
      VG_(tool_panic)("value of an unexpected type");
  }
}

UInt pb_parts(Builder* b, IRType type, IRExpr* value, IRExpr* parts[4]) {
  if (type == Ity_V128) {
    parts[0] = convert(b, Iop_V128to64, value);
    parts[1] = convert(b, Iop_V128HIto64, value);
    return 2;
  }
  if (type == Ity_V256) {
    parts[0] = convert(b, Iop_V256to64_0, value);
    parts[1] = convert(b, Iop_V256to64_1, value);
    parts[2] = convert(b, Iop_V256to64_2, value);
    parts[3] = convert(b, Iop_V256to64_3, value);
    return 4;
  }
  if (type == Ity_I128) {
    parts[0] = convert(b, Iop_128to64, value);
    parts[1] = convert(b, Iop_128HIto64, value);
    return 2;
  }
  parts[0] = value;
  return 1;
}

void pb_call(Builder* b, IRExpr* guard, const HChar* name, void* function, IRExpr** arguments) {
  IRDirty* const call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);
  if (guard != NULL) call->guard = guard;
  addStmtToIRSB(b->out, IRStmt_Dirty(call));
}

/* The context that last ran the superblock is remembered with its handles. */
void pb_enter(Builder* b) {
  const HWord block = (HWord)b->block;
  IRExpr* const last = pb_load(b, Ity_I32, block + offsetof(Block, context));
  IRExpr* const now = pb_load(b, Ity_I32, (HWord)&pe_context);
  IRExpr* const is_other = pb_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE32, last, now));
  PB_CALL_IF(b, is_other, pe_enter, mkIRExprVec_1(mkIRExpr_HWord(block)));
  b->base = convert(b, Iop_32Uto64, pb_load(b, Ity_I32, block + offsetof(Block, base)));
}

/* Valgrind unrolls loops: an instruction may be there several times. Its n-th access has the same slot each time. */
static UInt take_slot(Builder* b, UInt kind, UInt bytes) {
  tl_assert(b->base != NULL);
  const Slot slot = {.offset = b->offset, .bytes = (UShort)bytes, .kind = (UChar)kind, .number = b->access_number++};
  for (UInt i = 0; i < b->slot_count && kind != PE_ACCESS_INSTRUCTION; ++i)
    if (VG_(memcmp)(&b->slots[i], &slot, offsetof(Slot, instructions)) == 0) return i;
  if (b->slot_count == PB_MAX_SLOTS) return PB_MAX_SLOTS - 1;
  b->slots[b->slot_count] = slot;
  return b->slot_count++;
}

static IRExpr* handle_of(Builder* b, UInt slot) {
  return pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, b->base, mkIRExpr_HWord(slot)));
}

IRExpr* pb_handle(Builder* b, UInt kind, UInt bytes) {
  return handle_of(b, take_slot(b, kind, bytes));
}

/* A segment is a run of instructions that are executed together: until a side exit. */
static void begin_segment(Builder* b) {
  b->segment = take_slot(b, PE_ACCESS_INSTRUCTION, 0);
  b->slots[b->segment].first = b->offset_count;
  b->in_segment = True;
  IRExpr* const handle = handle_of(b, b->segment);
  IRExpr* const offset =
      pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Shl64, handle, IRExpr_Const(IRConst_U8(3))));
  IRExpr* const at = pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, offset, mkIRExpr_HWord(PE_COUNTS)));
  IRExpr* const count = pb_assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
  IRExpr* const next = pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, count, mkIRExpr_HWord(1)));
  addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, next));
}

void pb_begin_instruction(Builder* b, IRStmt* mark) {
  addStmtToIRSB(b->out, mark);
  b->offset = (UInt)(mark->Ist.IMark.addr - b->block->start);
  b->access_number = 0;
  b->next_instruction = mark->Ist.IMark.addr + mark->Ist.IMark.len;
  if (!pe_options.count) return;
  if (!b->in_segment) begin_segment(b);
  if (b->offset_count == PB_MAX_INSTRUCTIONS) return;
  b->offsets[b->offset_count++] = b->offset;
  b->slots[b->segment].instructions++;
}

void pb_end_segment(Builder* b) {
  b->in_segment = False;
}

static void* copy_of(const void* from, SizeT bytes) {
  if (bytes == 0) return NULL;
  void* const copy = VG_(malloc)("pe.slots", bytes);
  VG_(memcpy)(copy, from, bytes);
  return copy;
}

void pb_finish(Builder* b) {
  b->block->slot_count = b->slot_count;
  b->block->slots = copy_of(b->slots, b->slot_count * sizeof(Slot));
  b->block->offsets = copy_of(b->offsets, b->offset_count * sizeof(UInt));
}

static IRTemp temp_of(const IRExpr* address) {
  return address->tag == Iex_RdTmp ? address->Iex.RdTmp.tmp : IRTemp_INVALID;
}

Bool pb_was_loaded(Builder* b, const IRExpr* address, UInt bytes) {
  const IRTemp temp = temp_of(address);
  if (temp == IRTemp_INVALID) return False;
  for (UInt i = 0; i < b->loaded_count; ++i)
    if (b->loaded[i].address == temp && b->loaded[i].bytes >= bytes) return True;
  if (b->loaded_count < PB_MAX_LOADED) {
    b->loaded[b->loaded_count].address = temp;
    b->loaded[b->loaded_count++].bytes = bytes;
  }
  return False;
}

void pb_forget_loads(Builder* b) {
  b->loaded_count = 0;
}
