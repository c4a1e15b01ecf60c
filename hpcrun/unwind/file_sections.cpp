#include "hpcrun/unwind/file_sections.h"

#include <cstring>

#include "hpcrun/elf/headers.h"
#include "hpcrun/elf/notes.h"
#include "hpcrun/guest/file_reader.h"

namespace hpcrun {
namespace {

constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 30;

// Returns false, and leaves the array empty, if the bytes cannot be read as a whole.
bool read_bytes(const FileReader& file, uint64_t offset, uint64_t bytes, Scratch<uint8_t>& to) noexcept {
  if (bytes > kMaxSectionBytes || !to.resize_zeroed(bytes)) return false;
  if (file.read(offset, to.begin(), bytes)) return true;
  to.clear();
  return false;
}
bool read_section(const FileReader& file, const Elf64_Shdr& section, Scratch<uint8_t>& to) noexcept {
  return read_bytes(file, section.sh_offset, section.sh_size, to);
}

bool has_build_id(const FileReader& file, const Elf64_Shdr& section, const ImageDescription& image) noexcept {
  uint8_t notes[sizeof(Elf64_Nhdr) + sizeof "GNU" + ImageDescription::kMaxBuildIdBytes];
  ElfNote note;
  if (section.sh_size > sizeof notes || !file.read(section.sh_offset, notes, section.sh_size)) return false;
  return find_build_id(BytesSource({notes, section.sh_size}), 0, section.sh_size, section.sh_addralign,
                       note) &&
         note.description_bytes == image.build_id_bytes &&
         std::memcmp(notes + note.description, image.build_id, image.build_id_bytes) == 0;
}

}  // namespace

FileStatus read_file_sections(const char* path, const ImageDescription& image, bool want_eh_frame,
                              FileSections& sections) noexcept {
  const FileReader file(path);
  Elf64_Ehdr elf;
  if (!file.is_open()) return FileStatus::Unreadable;
  if (const ElfStatus status = read_elf_header(file, elf); status != ElfStatus::Ok)
    return status == ElfStatus::Unreadable ? FileStatus::Unreadable : FileStatus::NotElf;
  // One read serves all section headers.
  const uint64_t count = section_count(file, elf);
  Scratch<uint8_t> headers;
  if (count == 0) return FileStatus::NotElf;
  if (count > kMaxSectionBytes / sizeof(Elf64_Shdr) ||
      !read_bytes(file, elf.e_shoff, count * sizeof(Elf64_Shdr), headers))
    return FileStatus::Unreadable;
  const BytesSource sections_of_file({headers.data(), headers.size()}, elf.e_shoff);
  Elf64_Shdr name_section;
  if (!read_name_section(sections_of_file, elf, name_section)) return FileStatus::NotElf;
  Scratch<uint8_t> names;
  if (!read_section(file, name_section, names)) return FileStatus::Unreadable;
  const BytesSource all_names(Bytes{names.data(), names.size()});
  const auto has_name = [&](const Elf64_Shdr& section, const char* name) {
    return string_is(all_names, 0, names.size(), section.sh_name, name);
  };
  const bool is_replaced =
      image.build_id_bytes != 0 && any_section(sections_of_file, elf, [&](const Elf64_Shdr& section) {
        return has_name(section, ".note.gnu.build-id") && !has_build_id(file, section, image);
      });
  if (is_replaced) return FileStatus::Replaced;
  any_section(sections_of_file, elf, [&](const Elf64_Shdr& section) {
    if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED)) return false;
    if (has_name(section, ".debug_frame")) {
      (void)read_section(file, section, sections.debug_frame);  // stays empty
    } else if (want_eh_frame && has_name(section, ".eh_frame")) {
      if (read_section(file, section, sections.eh_frame)) sections.eh_frame_address = section.sh_addr;
    }
    return false;
  });
  return FileStatus::Ok;
}

}  // namespace hpcrun
