#pragma once
// Reads .eh_frame_hdr, the linker's sorted index of the functions in .eh_frame (Linux Standard Base, 10.6.2).
// Input is untrusted. Async-signal-safe if the source is.

#include "hpcrun/elf/cursor.h"
#include "hpcrun/elf/dwarf.h"
#include "hpcrun/elf/encoded_pointer.h"
#include "hpcrun/elf/source.h"

namespace hpcrun {

// Offsets from the start of .eh_frame_hdr.
struct FrameIndexEntry {
  int32_t function;
  int32_t record;  // its FDE
};

struct FrameIndex {
  static constexpr size_t kUsualHeadBytes = 12;  // as linkers write it

  uint64_t head_bytes = 0;  // before the entries
  uint64_t count = 0;
};

// Reads the start of .eh_frame_hdr, of which `head` has all or the first bytes. Returns false if its
// entries are of another kind than FrameIndexEntry.
[[nodiscard]] inline bool read_frame_index(Bytes head, FrameIndex& index) noexcept {
  Cursor cursor(head);
  const uint8_t version = cursor.u8();
  const uint8_t frame_encoding = cursor.u8();
  const uint8_t count_encoding = cursor.u8();
  const uint8_t entry_encoding = cursor.u8();
  if (!cursor.ok || version != 1 || entry_encoding != (kPointerDataRelative | kPointerS4)) return false;
  uint64_t ignored;
  if (frame_encoding != kPointerOmitted && !read_encoded(cursor, frame_encoding, ignored)) return false;
  if ((count_encoding & ~kPointerFormatMask) != 0 || !read_encoded(cursor, count_encoding, index.count))
    return false;
  index.head_bytes = head.size - cursor.left();
  return true;
}

// Finds the entry of the last function that starts at or before an offset from the start of .eh_frame_hdr,
// which the source has at `start`. Returns false if there is none.
template <ElfSource Source>
[[nodiscard]] bool find_frame_entry(const Source& source, uint64_t start, const FrameIndex& index,
                                    int64_t offset, FrameIndexEntry& found) noexcept {
  uint64_t low = 0;
  uint64_t high = index.count;
  FrameIndexEntry entry;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (!read_item(source, start + index.head_bytes, middle, entry)) return false;
    if (entry.function <= offset) {
      low = middle + 1;
      found = entry;
    } else {
      high = middle;
    }
  }
  return low != 0;
}

}  // namespace hpcrun
