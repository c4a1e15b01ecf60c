/* Adds code to the program's: at accesses, calls, returns and system calls. A superblock that needs handles looks up
   its context first; a handle is then base + slot.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_options.h"

#include "builder.h"
#include "libvex_guest_offsets.h"
#include "profexact.h"

static Block** blocks;
static UInt block_count = 1, block_capacity;

Block* pe_block(UInt id) {
  return blocks[id];
}

UInt pe_block_count(void) {
  return block_count;
}

static Block* make_block(Addr start) {
  if (block_count >= block_capacity) {
    block_capacity = block_capacity == 0 ? 1024 : block_capacity * 2;
    blocks = VG_(realloc)("pe.blocks", blocks, block_capacity * sizeof *blocks);
  }
  Block* const block = VG_(calloc)("pe.block", 1, sizeof *block);
  block->id = block_count;
  block->start = start;
  block->module = pe_module_at(start);
  blocks[block_count++] = block;
  return block;
}

/* Stores */

static IRExpr* difference(Builder* b, IRExpr* old, IRExpr* new) {
  return pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Xor64, pb_integer(b, old), pb_integer(b, new)));
}

static void before_store(Builder* b, IRExpr* address, IRExpr* data) {
  b->changed = NULL;
  if (!pe_options.silent && !pe_options.redundant) return;
  const IRType type = typeOfIRExpr(b->out->tyenv, data);
  IRExpr* const old = pb_assign(b, type, IRExpr_Load(Iend_LE, type, address));
  IRExpr* differences[4];
  const UInt parts = pb_parts(b, type, old, differences);
  IRExpr* stored[4];
  pb_parts(b, type, data, stored);
  IRExpr* any = NULL;
  for (UInt i = 0; i < parts; ++i) {
    differences[i] = difference(b, differences[i], stored[i]);
    any = any == NULL ? differences[i]
                      : pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Or64, any, differences[i]));
  }
  b->changed = pb_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, any, IRExpr_Const(IRConst_U64(0))));
  if (!pe_options.silent) return;
  IRExpr* const handle = pb_handle(b, PE_ACCESS_STORE, sizeofIRType(type));
  b->stored_handle = handle;
  if (parts == 1)
    PB_CALL(b, pe_silent_store, mkIRExprVec_4(address, handle, mkIRExpr_HWord(sizeofIRType(type)), any));
  else if (parts == 2)
    PB_CALL(b, pe_silent_store_16, mkIRExprVec_4(address, handle, differences[0], differences[1]));
  else
    PB_CALL(b, pe_silent_store_32, mkIRExprVec_6(address, handle, differences[0], differences[1],
                                                 differences[2], differences[3]));
}

static void dead_store(Builder* b, IRExpr* address, UInt bytes, IRExpr* handle, IRExpr* guard) {
  switch (bytes) {
    case 1:
      PB_CALL_IF(b, guard, pe_dead_store_1, mkIRExprVec_2(address, handle));
      return;
    case 2:
      PB_CALL_IF(b, guard, pe_dead_store_2, mkIRExprVec_2(address, handle));
      return;
    case 4:
      PB_CALL_IF(b, guard, pe_dead_store_4, mkIRExprVec_2(address, handle));
      return;
    case 8:
      PB_CALL_IF(b, guard, pe_dead_store_8, mkIRExprVec_2(address, handle));
      return;
    case 16:
      PB_CALL_IF(b, guard, pe_dead_store_16, mkIRExprVec_2(address, handle));
      return;
    default:
      PB_CALL_IF(b, guard, pe_dead_store_n, mkIRExprVec_3(address, handle, mkIRExpr_HWord(bytes)));
  }
}

static void after_store(Builder* b, IRExpr* address, UInt bytes) {
  pb_forget_loads(b);
  IRExpr* handle = b->stored_handle;
  b->stored_handle = NULL;
  if (pe_options.dead) {
    if (handle == NULL) handle = pb_handle(b, PE_ACCESS_STORE, bytes);
    dead_store(b, address, bytes, handle, NULL);
  }
  if (pe_options.redundant)
    PB_CALL_IF(b, b->changed, pe_redundant_change, mkIRExprVec_2(address, mkIRExpr_HWord(bytes)));
}

/* A store whose former bytes are not compared: it counts as one that changes them. */
static void store_of_unknown(Builder* b, IRExpr* address, UInt bytes, IRExpr* guard) {
  pb_forget_loads(b);
  IRExpr* const size = mkIRExpr_HWord(bytes);
  if (pe_options.dead || pe_options.silent) {
    IRExpr* const handle = pb_handle(b, PE_ACCESS_STORE, bytes);
    if (pe_options.dead) dead_store(b, address, bytes, handle, guard);
    if (pe_options.silent)
      PB_CALL_IF(b, guard, pe_silent_store_unknown, mkIRExprVec_3(address, handle, size));
  }
  if (pe_options.redundant) PB_CALL_IF(b, guard, pe_redundant_change, mkIRExprVec_2(address, size));
}

/* Loads */

/* Returns a condition: one of the bytes is held by a store. */
static IRExpr* any_held(Builder* b, IRExpr* address, UInt bytes) {
  IRExpr* const low = pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Shl64, address,
                                                         IRExpr_Const(IRConst_U8(64 - PE_CLIENT_BITS))));
  IRExpr* const offset = pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Shr64, low,
                                                            IRExpr_Const(IRConst_U8(64 - PE_CLIENT_BITS - 2))));
  IRExpr* const states =
      pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, offset, mkIRExpr_HWord(PE_SHADOW(PE_DEAD))));
  if (bytes == 1) {
    IRExpr* const state = pb_assign(b, Ity_I32, IRExpr_Load(Iend_LE, Ity_I32, states));
    return pb_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE32, state, IRExpr_Const(IRConst_U32(0))));
  }
  IRExpr* any = NULL;
  for (UInt i = 0; i < bytes / 2; ++i) {
    IRExpr* const at =
        i == 0 ? states : pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, states, mkIRExpr_HWord(i * 8)));
    IRExpr* const state = pb_assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
    any = any == NULL ? state : pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Or64, any, state));
  }
  return pb_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, any, IRExpr_Const(IRConst_U64(0))));
}

static void after_load(Builder* b, IRExpr* address, UInt bytes, IRExpr* guard, Bool counts) {
  IRExpr* const size = mkIRExpr_HWord(bytes);
  if (pe_options.dead && (guard != NULL || !pb_was_loaded(b, address, bytes))) {
    const Bool is_short = guard == NULL && (bytes == 1 || (bytes <= 16 && bytes % 2 == 0));
    PB_CALL_IF(b, is_short ? any_held(b, address, bytes) : guard, pe_dead_load,
               mkIRExprVec_2(address, size));
  }
  if (pe_options.redundant && counts)
    PB_CALL_IF(b, guard, pe_redundant_load,
               mkIRExprVec_3(address, pb_handle(b, PE_ACCESS_LOAD, bytes), size));
}

/* Statements */

static UInt loaded_bytes(const IRLoadG* load) {
  IRType result, loaded;
  typeOfIRLoadGOp(load->cvt, &result, &loaded);
  return sizeofIRType(loaded);
}

static void after_dirty(Builder* b, const IRDirty* call) {
  if (call->mFx == Ifx_None) return;
  const Bool always = call->guard->tag == Iex_Const;
  IRExpr* const guard = always ? NULL : call->guard;
  if (call->mFx != Ifx_Write) after_load(b, call->mAddr, (UInt)call->mSize, guard, True);
  if (call->mFx != Ifx_Read) store_of_unknown(b, call->mAddr, (UInt)call->mSize, guard);
}

/* The load is not counted as one of its own: most such instructions load first. */
static void after_compare_and_swap(Builder* b, const IRCAS* swap) {
  const IRType type = typeOfIRExpr(b->out->tyenv, swap->dataLo);
  const Bool is_double = swap->dataHi != NULL;
  const UInt bytes = sizeofIRType(type) * (is_double ? 2 : 1);
  after_load(b, swap->addr, bytes, NULL, False);
  IRExpr* different = difference(b, IRExpr_RdTmp(swap->oldLo), swap->expdLo);
  if (is_double) {
    IRExpr* const high = difference(b, IRExpr_RdTmp(swap->oldHi), swap->expdHi);
    different = pb_assign(b, Ity_I64, IRExpr_Binop(Iop_Or64, different, high));
  }
  store_of_unknown(b, swap->addr, bytes,
                   pb_assign(b, Ity_I1,
                             IRExpr_Binop(Iop_CmpEQ64, different, IRExpr_Const(IRConst_U64(0)))));
}

static void add_statement(Builder* b, IRStmt* statement) {
  switch (statement->tag) {
    case Ist_IMark:
      pb_begin_instruction(b, statement);
      return;
    case Ist_Store: {
      IRExpr* const data = statement->Ist.Store.data;
      before_store(b, statement->Ist.Store.addr, data);
      addStmtToIRSB(b->out, statement);
      after_store(b, statement->Ist.Store.addr, sizeofIRType(typeOfIRExpr(b->out->tyenv, data)));
      return;
    }
    case Ist_WrTmp:
      addStmtToIRSB(b->out, statement);
      if (statement->Ist.WrTmp.data->tag == Iex_Load)
        after_load(b, statement->Ist.WrTmp.data->Iex.Load.addr,
                   sizeofIRType(statement->Ist.WrTmp.data->Iex.Load.ty), NULL, True);
      return;
    case Ist_StoreG: {
      const IRStoreG* const store = statement->Ist.StoreG.details;
      addStmtToIRSB(b->out, statement);
      store_of_unknown(b, store->addr, sizeofIRType(typeOfIRExpr(b->out->tyenv, store->data)), store->guard);
      return;
    }
    case Ist_LoadG: {
      const IRLoadG* const load = statement->Ist.LoadG.details;
      addStmtToIRSB(b->out, statement);
      after_load(b, load->addr, loaded_bytes(load), load->guard, True);
      return;
    }
    case Ist_Dirty:
      addStmtToIRSB(b->out, statement);
      after_dirty(b, statement->Ist.Dirty.details);
      return;
    case Ist_CAS:
      addStmtToIRSB(b->out, statement);
      after_compare_and_swap(b, statement->Ist.CAS.details);
      return;
    case Ist_Exit:
      addStmtToIRSB(b->out, statement);
      pb_end_segment(b);
      return;
    default:
      addStmtToIRSB(b->out, statement);
  }
}

/* The superblock's end */

static Bool is_syscall(IRJumpKind kind) {
  return kind == Ijk_Sys_syscall || kind == Ijk_Sys_int128;
}

static void add_end(Builder* b, const IRSB* in) {
  if (is_syscall(in->jumpkind)) {
    if (pe_options.dead) PB_CALL(b, pe_set_syscall, mkIRExprVec_1(pb_handle(b, PE_ACCESS_KERNEL, 0)));
    return;
  }
  if (in->jumpkind == Ijk_Call) {
    b->block->return_address = b->next_instruction;
    PB_CALL(b, pe_call, mkIRExprVec_2(mkIRExpr_HWord((HWord)b->block), pb_register(b, OFFSET_amd64_RSP)));
  } else if (in->jumpkind == Ijk_Ret) {
    PB_CALL(b, pe_return,
            mkIRExprVec_2(pb_register(b, OFFSET_amd64_RSP), pb_register(b, OFFSET_amd64_RAX)));
  } else if (in->jumpkind == Ijk_Boring && in->next->tag != Iex_Const) {
    IRExpr* const sp = pb_register(b, OFFSET_amd64_RSP);
    IRExpr* const top = pb_load(b, Ity_I64, (HWord)&pe_top);
    IRExpr* const slot = pb_assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, top));
    PB_CALL_IF(b, pb_assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, slot, sp)), pe_unwind, mkIRExprVec_1(sp));
  }
}

static Bool needs_handles(const IRSB* in) {
  if (pe_options.count || (pe_options.dead && is_syscall(in->jumpkind))) return True;
  const Bool stores = pe_options.dead || pe_options.silent;
  for (Int i = 0; i < in->stmts_used; ++i) {
    const IRStmt* const statement = in->stmts[i];
    switch (statement->tag) {
      case Ist_Store:
      case Ist_StoreG:
      case Ist_CAS:
        if (stores) return True;
        break;
      case Ist_Dirty:
        if (statement->Ist.Dirty.details->mFx != Ifx_None) return True;
        break;
      case Ist_LoadG:
        if (pe_options.redundant) return True;
        break;
      case Ist_WrTmp:
        if (pe_options.redundant && statement->Ist.WrTmp.data->tag == Iex_Load) return True;
        break;
      default:
        break;
    }
  }
  return False;
}

static void add_allocation(Builder* b, Addr entry) {
  const UInt kind = pe_allocation_kind(entry);
  if (kind == 0) return;
  PB_CALL(b, pe_enter_allocation,
          mkIRExprVec_4(mkIRExpr_HWord(kind), pb_register(b, OFFSET_amd64_RDI),
                        pb_register(b, OFFSET_amd64_RSI), pb_register(b, OFFSET_amd64_RDX)));
}

IRSB* pe_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                    const VexGuestExtents* extents, const VexArchInfo* host, IRType guest_word,
                    IRType host_word) {
  (void)closure, (void)layout, (void)host, (void)guest_word, (void)host_word;
  Builder b = {.out = deepCopyIRSBExceptStmts(in), .base = NULL};
  Int i = 0;
  for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; ++i) addStmtToIRSB(b.out, in->stmts[i]);
  b.block = make_block(extents->base[0]);
  if (i < in->stmts_used) add_allocation(&b, extents->base[0]);
  if (needs_handles(in)) pb_enter(&b);
  for (; i < in->stmts_used; ++i)
    if (in->stmts[i]->tag != Ist_NoOp) add_statement(&b, in->stmts[i]);
  pb_end_segment(&b);
  add_end(&b, in);
  pb_finish(&b);
  return b.out;
}
