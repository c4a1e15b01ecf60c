#include "hpcrun/unwind/elf_file.h"

#include <elf.h>
#include <fcntl.h>

#include <cstring>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 30;

// Reads with pread instead of mmap: if the file shrinks meanwhile, the result is a short read and not a
// SIGBUS.
class File {
 public:
  explicit File(const char* path) noexcept
      : fd_(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                        O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (is_open()) raw_syscall(SYS_close, fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const noexcept { return fd_ >= 0; }

  bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    auto* at = static_cast<char*>(to);
    while (bytes != 0) {
      const long got = raw_syscall(SYS_pread64, fd_, reinterpret_cast<long>(at), static_cast<long>(bytes),
                                   static_cast<long>(offset));
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  bool read(uint64_t offset, uint64_t bytes, Scratch<uint8_t>& to) const noexcept {
    if (bytes > kMaxSectionBytes || !to.resize_zeroed(bytes)) return false;
    if (read(offset, to.begin(), bytes)) return true;
    to.clear();
    return false;
  }

 private:
  long fd_;
};

bool same_build_id(const File& file, const Elf64_Shdr& section, const ImageDescription& image) noexcept {
  unsigned char note[sizeof(Elf64_Nhdr) + 4 + ImageDescription::kMaxBuildIdBytes];
  const size_t bytes = sizeof(Elf64_Nhdr) + 4 + image.build_id_bytes;
  return section.sh_size == bytes && file.read(section.sh_offset, note, bytes) &&
         std::memcmp(note + sizeof(Elf64_Nhdr) + 4, image.build_id, image.build_id_bytes) == 0;
}

}  // namespace

FileStatus read_file_sections(const char* path, const ImageDescription& image, bool want_eh_frame,
                              FileSections& sections) noexcept {
  const File file(path);
  Elf64_Ehdr elf;
  if (!file.is_open() || !file.read(0, &elf, sizeof elf)) return FileStatus::Unreadable;
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_shnum == 0 || elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shstrndx >= elf.e_shnum) {
    return FileStatus::NotElf;
  }
  Scratch<uint8_t> header_bytes;
  Scratch<uint8_t> names;
  if (!file.read(elf.e_shoff, uint64_t{elf.e_shnum} * sizeof(Elf64_Shdr), header_bytes)) {
    return FileStatus::Unreadable;
  }
  const auto* headers = reinterpret_cast<const Elf64_Shdr*>(header_bytes.data());
  const Elf64_Shdr& name_section = headers[elf.e_shstrndx];
  if (!file.read(name_section.sh_offset, name_section.sh_size, names)) return FileStatus::Unreadable;
  const auto is_named = [&](const Elf64_Shdr& section, const char* name) {
    const size_t bytes = std::strlen(name) + 1;
    return section.sh_name < names.size() && names.size() - section.sh_name >= bytes &&
           std::memcmp(names.data() + section.sh_name, name, bytes) == 0;
  };
  for (unsigned i = 0; image.build_id_bytes != 0 && i < elf.e_shnum; ++i) {
    if (is_named(headers[i], ".note.gnu.build-id") && !same_build_id(file, headers[i], image)) {
      return FileStatus::Replaced;
    }
  }
  for (unsigned i = 0; i < elf.e_shnum; ++i) {
    const Elf64_Shdr& section = headers[i];
    if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED)) continue;
    if (is_named(section, ".debug_frame")) {
      file.read(section.sh_offset, section.sh_size, sections.debug_frame);
    } else if (want_eh_frame && is_named(section, ".eh_frame")) {
      if (file.read(section.sh_offset, section.sh_size, sections.eh_frame)) {
        sections.eh_frame_address = section.sh_addr;
      }
    }
  }
  return FileStatus::Ok;
}

}  // namespace hpcrun
