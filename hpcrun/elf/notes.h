#pragma once
// Reads notes: of a PT_NOTE segment, a note section, or /sys/kernel/notes. Input is untrusted.
// Async-signal-safe if the source is.

#include <elf.h>

#include "hpcrun/elf/source.h"

namespace hpcrun {

// Offsets are those of the source.
struct ElfNote {
  uint32_t type = 0;
  uint32_t name_bytes = 0;  // with its terminating zero
  uint32_t description_bytes = 0;
  uint64_t start = 0;
  uint64_t name = 0;
  uint64_t description = 0;
  uint64_t end = 0;  // with padding
};

// Calls use(note) for each note in [start, start + bytes) until it returns true. Returns true if one did. A
// note that does not end within them ends the search; the last one's padding may be missing. `align` is the
// segment's: notes with 8 (GNU properties) are padded to 8 bytes, others to 4.
template <ElfSource Source, typename Use>
bool any_note(const Source& source, uint64_t start, uint64_t bytes, uint64_t align, Use use) noexcept {
  const uint64_t unit = align == 8 ? 8 : 4;
  const auto padded = [unit](uint64_t n) { return (n + unit - 1) / unit * unit; };
  uint64_t end;
  if (__builtin_add_overflow(start, bytes, &end)) return false;
  for (uint64_t at = 0; at < bytes && bytes - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr header;
    if (!source.read(start + at, &header, sizeof header)) return false;
    const uint64_t name = at + sizeof header;
    const uint64_t description = padded(name + header.n_namesz);
    if (description > bytes || header.n_descsz > bytes - description) return false;
    const uint64_t next = padded(description + header.n_descsz);
    if (use(ElfNote{header.n_type, header.n_namesz, header.n_descsz, start + at, start + name,
                    start + description, start + next}))
      return true;
    at = next;
  }
  return false;
}

// Finds the build ID among notes. Returns false if there is none.
template <ElfSource Source>
[[nodiscard]] bool find_build_id(const Source& source, uint64_t start, uint64_t bytes, uint64_t align,
                                 ElfNote& found) noexcept {
  return any_note(source, start, bytes, align, [&](const ElfNote& note) {
    constexpr char kOwner[] = "GNU";
    char name[sizeof kOwner];
    if (note.type != NT_GNU_BUILD_ID || note.name_bytes != sizeof name ||
        !source.read(note.name, name, sizeof name) ||
        std::string_view(name, sizeof name) != std::string_view(kOwner, sizeof kOwner))
      return false;
    found = note;
    return true;
  });
}

}  // namespace hpcrun
