// Any bytes as an ELF file: its segments, sections, notes, dynamic section and unwind information.

#include <cstdlib>
#include <string_view>

#include "hpcrun/elf/dynamic.h"
#include "hpcrun/elf/frame_index.h"
#include "hpcrun/elf/frame_records.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/elf/notes.h"

namespace {

using namespace hpcrun;

constexpr uint64_t kMaxItems = 4'096;  // an input may say that it has more tables than there is time for

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_within(Bytes inner, Bytes outer) {
  return inner.size == 0 || (inner.data >= outer.data && inner.data + inner.size <= outer.data + outer.size);
}

void read_notes(const BytesSource& file, uint64_t start, uint64_t bytes, uint64_t align) {
  uint64_t last = 0;
  any_note(file, start, bytes, align, [&](const ElfNote& note) {
    check(note.start >= start && note.end > note.start && note.start >= last);
    check(note.description + note.description_bytes <= start + bytes);
    last = note.end;
    return false;
  });
  ElfNote id;
  if (find_build_id(file, start, bytes, align, id)) check(id.type == NT_GNU_BUILD_ID);
}

void read_records(Bytes bytes, bool is_debug_frame) {
  const CfiSection section{bytes, 0x1000, 0, is_debug_frame};
  uint64_t items = 0;
  for (uint64_t offset = 0; offset < bytes.size && items < kMaxItems; ++items) {
    const CfiRecord record = split_record(section, offset);
    if (record.kind == CfiRecordKind::End || record.kind == CfiRecordKind::Malformed) return;
    check(record.next > offset && record.next <= bytes.size && is_within(record.body, bytes));
    Cie cie;
    Fde fde;
    if (record.kind == CfiRecordKind::Cie) {
      if (parse_cie(record.body, cie)) check(is_within(cie.instructions, record.body));
    } else if (record.cie_offset >= 0) {
      const CfiRecord of_cie = split_record(section, static_cast<uint64_t>(record.cie_offset));
      if (of_cie.kind == CfiRecordKind::Cie && parse_cie(of_cie.body, cie) &&
          parse_fde(section, record.body, cie, fde))
        check(fde.start <= fde.end && is_within(fde.instructions, record.body));
    }
    offset = record.next;
  }
}

void read_index(const BytesSource& file, uint64_t offset, Bytes bytes) {
  FrameIndex index;
  if (!read_frame_index(bytes, index)) return;
  check(index.head_bytes <= bytes.size);
  FrameIndexEntry found;
  for (const int64_t wanted : {INT64_MIN, int64_t{0}, INT64_MAX})
    if (find_frame_entry(file, offset, index, wanted, found)) check(found.function <= wanted);
}

void read_dynamic_section(const BytesSource& file, uint64_t offset, uint64_t bytes) {
  const DynamicTables tables = read_dynamic(file, offset, bytes);
  (void)count_symbols(file, 0, tables.gnu_hash);
  (void)count_symbols(file, tables.hash, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesSource file(Bytes{data, size});
  Elf64_Ehdr header;
  if (read_elf_header(file, header) != ElfStatus::Ok) return 0;
  Elf64_Shdr names{};
  const bool has_names = read_name_section(file, header, names);
  uint64_t items = 0;
  any_section(file, header, [&](const Elf64_Shdr& section) {
    const Bytes bytes = file.at(section.sh_offset, section.sh_size);
    if (has_names && is_named(file, names, section, ".eh_frame_hdr"))
      read_index(file, section.sh_offset, bytes);
    if (section.sh_type == SHT_NOTE)
      read_notes(file, section.sh_offset, section.sh_size, section.sh_addralign);
    else if (section.sh_type == SHT_PROGBITS)
      read_records(bytes, section.sh_name % 2 == 1);
    return ++items == kMaxItems;
  });
  items = 0;
  any_segment(file, header, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_NOTE) read_notes(file, segment.p_offset, segment.p_filesz, segment.p_align);
    if (segment.p_type == PT_DYNAMIC) read_dynamic_section(file, segment.p_offset, segment.p_filesz);
    return ++items == kMaxItems;
  });
  return 0;
}
