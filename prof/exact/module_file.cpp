#include "prof/exact/module_file.h"

#include <algorithm>

#include "hpcrun/elf/headers.h"
#include "hpcrun/elf/notes.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {

namespace {

constexpr uint64_t kPage = 4096;

class FileSource {
 public:
  static constexpr bool kIsDirect = false;
  explicit FileSource(const RegularFile& file) : file_(file) {}
  bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    const ssize_t count = pread(file_.descriptor(), to, bytes, static_cast<off_t>(offset));
    return count >= 0 && static_cast<size_t>(count) == bytes;
  }

 private:
  const RegularFile& file_;
};

// The bias is that of the segment whose pages were mapped as the code.
bool maps(const Elf64_Phdr& segment, uint64_t file_offset) {
  return segment.p_type == PT_LOAD && file_offset >= segment.p_offset / kPage * kPage &&
         file_offset < segment.p_offset + segment.p_filesz;
}

void read_build_id(const FileSource& source, const Elf64_Phdr& notes, std::vector<uint8_t>& build_id) {
  constexpr uint32_t kMaxBuildId = 64;
  hpcrun::ElfNote note;
  if (!hpcrun::find_build_id(source, notes.p_offset, notes.p_filesz, notes.p_align, note) ||
      note.description_bytes > kMaxBuildId)
    return;
  build_id.resize(note.description_bytes);
  if (!source.read(note.description, build_id.data(), build_id.size())) build_id.clear();
}

void read_segments(const FileSource& source, const Elf64_Ehdr& header, const PeDumpModule& mapped,
                   LoadedModule& module) {
  bool is_found = false;
  hpcrun::any_segment(source, header, [&](const Elf64_Phdr& segment) {
    if (maps(segment, mapped.file_offset) && (segment.p_flags & PF_X)) {
      module.load_bias = mapped.start - mapped.file_offset - (segment.p_vaddr - segment.p_offset);
      is_found = true;
    }
    return is_found;
  });
  if (!is_found) return;
  hpcrun::any_segment(source, header, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_NOTE && module.build_id.empty()) read_build_id(source, segment, module.build_id);
    if (segment.p_type == PT_LOAD) {
      const uint64_t start = module.load_bias + segment.p_vaddr;
      module.start = std::min(module.start, start / kPage * kPage);
      module.end = std::max(module.end, start + segment.p_memsz);
    }
    return false;
  });
}

}  // namespace

LoadedModule read_loaded_module(const PeDumpModule& mapped, const std::string& path) {
  LoadedModule module;
  module.path = path;
  module.start = mapped.start;
  module.end = mapped.end;
  module.load_bias = mapped.start - mapped.file_offset;
  const RegularFile file(path);
  if (!file.is_open()) return module;
  // A file that was replaced since is another one.
  if (file.status().st_ino != mapped.inode) return module;
  module.file = {file.status().st_dev, file.status().st_ino, file.size()};
  const FileSource source(file);
  Elf64_Ehdr header;
  if (hpcrun::read_elf_header(source, header) == hpcrun::ElfStatus::Ok)
    read_segments(source, header, mapped, module);
  return module;
}

}  // namespace prof
