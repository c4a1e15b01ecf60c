/* Files whose code the program ran.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_aspacemgr.h"

#include "profexact.h"

static Module* modules;
static UInt module_count, capacity;

static UInt add(const NSegment* segment, const HChar* path) {
  if (module_count == capacity) {
    capacity = capacity == 0 ? 16 : capacity * 2;
    modules = VG_(realloc)("pe.modules", modules, capacity * sizeof *modules);
  }
  modules[module_count] = (Module){.start = segment->start,
                                   .end = segment->end + 1,
                                   .offset = (ULong)segment->offset,
                                   .device = segment->dev,
                                   .inode = segment->ino,
                                   .path = VG_(strdup)("pe.modules", path)};
  return ++module_count;
}

/* Returns 1 + the index of the module with this code, or 0 if it is not of a file. Called once per superblock. */
UInt pe_module_at(Addr address) {
  const NSegment* const segment = VG_(am_find_nsegment)(address);
  if (segment == NULL || segment->kind != SkFileC) return 0;
  const HChar* const path = VG_(am_get_filename)(segment);
  if (path == NULL) return 0;
  for (UInt i = 0; i < module_count; ++i)
    if (modules[i].start == segment->start && modules[i].inode == segment->ino &&
        modules[i].device == segment->dev && modules[i].offset == (ULong)segment->offset)
      return i + 1;
  return add(segment, path);
}

UInt pe_module_count(void) {
  return module_count;
}

const Module* pe_module(UInt index) {
  return &modules[index];
}
