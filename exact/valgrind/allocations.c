/* Heap objects, with the context of their allocation. The program keeps its own allocator, whose calls are
   recognized by the names of functions.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_debuginfo.h"
#include "pub_tool_oset.h"

#include "profexact.h"

enum { MALLOC = 1, CALLOC, REALLOC, ALIGNED, POSIX_MEMALIGN, FREE };

static const struct {
  const HChar* name;
  UInt kind;
} kFunctions[] = {
    {"malloc", MALLOC},
    {"valloc", MALLOC},
    {"pvalloc", MALLOC},
    {"_Znwm", MALLOC},
    {"_Znam", MALLOC},
    {"_ZnwmRKSt9nothrow_t", MALLOC},
    {"_ZnamRKSt9nothrow_t", MALLOC},
    {"_ZnwmSt11align_val_t", MALLOC},
    {"_ZnamSt11align_val_t", MALLOC},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", MALLOC},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", MALLOC},
    {"calloc", CALLOC},
    {"realloc", REALLOC},
    {"memalign", ALIGNED},
    {"aligned_alloc", ALIGNED},
    {"posix_memalign", POSIX_MEMALIGN},
    {"free", FREE},
    {"cfree", FREE},
    {"_ZdlPv", FREE},
    {"_ZdaPv", FREE},
    {"_ZdlPvm", FREE},
    {"_ZdaPvm", FREE},
    {"_ZdlPvSt11align_val_t", FREE},
    {"_ZdaPvSt11align_val_t", FREE},
    {"_ZdlPvmSt11align_val_t", FREE},
    {"_ZdaPvmSt11align_val_t", FREE},
};

typedef struct {
  Addr start;
  SizeT bytes;
  ContextId context;
} Object;

static OSet* objects;

static Word compare(const void* key, const void* element) {
  const Addr address = *(const Addr*)key;
  const Object* const object = element;
  if (address < object->start) return -1;
  return address - object->start >= object->bytes ? 1 : 0;
}

void pe_init_allocations(void) {
  objects = VG_(OSetGen_Create_With_Pool)(offsetof(Object, start), compare, VG_(malloc), "pe.objects",
                                          VG_(free), 1024, sizeof(Object));
}

static const HChar* without_prefixes(const HChar* name) {
  static const HChar* const kPrefixes[] = {"__GI_", "__libc_"};
  for (UInt i = 0; i < sizeof kPrefixes / sizeof kPrefixes[0]; ++i) {
    const SizeT bytes = VG_(strlen)(kPrefixes[i]);
    if (VG_(strncmp)(name, kPrefixes[i], bytes) == 0) name += bytes;
  }
  return name;
}

UInt pe_allocation_kind(Addr entry) {
  const HChar* name = NULL;
  if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), entry, &name)) return 0;
  name = without_prefixes(name);
  for (UInt i = 0; i < sizeof kFunctions / sizeof kFunctions[0]; ++i)
    if (VG_(strcmp)(name, kFunctions[i].name) == 0) return kFunctions[i].kind;
  return 0;
}

static void forget(Addr start) {
  Object* const object = VG_(OSetGen_Lookup)(objects, &start);
  if (object == NULL || object->start != start) return;
  VG_(OSetGen_Remove)(objects, &start);
  pe_reset(object->start, object->bytes);
  VG_(OSetGen_FreeNode)(objects, object);
}

/* The allocator may have freed objects in ways that were not seen. */
static void forget_range(Addr start, SizeT bytes) {
  for (;;) {
    Object* object = VG_(OSetGen_Lookup)(objects, &start);
    if (object == NULL) {
      VG_(OSetGen_ResetIterAt)(objects, &start);
      object = VG_(OSetGen_Next)(objects);
      if (object == NULL || object->start >= start + bytes) return;
    }
    const Addr key = object->start;
    VG_(OSetGen_Remove)(objects, &key);
    VG_(OSetGen_FreeNode)(objects, object);
  }
}

static void add(Addr start, SizeT bytes, ContextId context) {
  if (start == 0) return;
  if (bytes == 0) bytes = 1;
  if (bytes > PE_CLIENT_END) return;
  forget_range(start, bytes);
  Object* const object = VG_(OSetGen_AllocNode)(objects, sizeof *object);
  *object = (Object){.start = start, .bytes = bytes, .context = context};
  VG_(OSetGen_Insert)(objects, object);
}

/* At the entry of a function that allocates or frees. What it calls to do so belongs to it. */
void pe_enter_allocation(UInt kind, ULong a, ULong b, ULong c) {
  Thread* const thread = pe_thread;
  if (thread->allocating_depth != 0 || pe_depth() == 0) return;
  if (kind == FREE) {
    if (a != 0) forget(a);
    return;
  }
  thread->allocating_depth = pe_depth();
  thread->allocating_kind = kind;
  thread->allocating_context = pe_context;
  thread->arguments[0] = a;
  thread->arguments[1] = b;
  thread->arguments[2] = c;
}

static void reallocate(Thread* thread, ULong result) {
  const Bool frees = result == 0 ? thread->arguments[1] == 0 : result != thread->arguments[0];
  if (frees && thread->arguments[0] != 0) forget(thread->arguments[0]);
  add(result, thread->arguments[1], thread->allocating_context);
}

void pe_leave_allocation(ULong result) {
  Thread* const thread = pe_thread;
  thread->allocating_depth = 0;
  const ULong* const arguments = thread->arguments;
  switch (thread->allocating_kind) {
    case CALLOC:
      add(result, arguments[0] * arguments[1], thread->allocating_context);
      return;
    case REALLOC:
      reallocate(thread, result);
      return;
    case ALIGNED:
      add(result, arguments[1], thread->allocating_context);
      return;
    case POSIX_MEMALIGN:
      if ((UInt)result == 0) add(*(const Addr*)arguments[0], arguments[2], thread->allocating_context);
      return;
    default:
      add(result, arguments[0], thread->allocating_context);
  }
}

ContextId pe_allocation_of(Addr address) {
  const Object* const object = VG_(OSetGen_Lookup)(objects, &address);
  return object == NULL ? 0 : object->context;
}
