#include "hpcrun/guest/program_file.h"

#include <elf.h>
#include <fcntl.h>

#include <cstring>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr char kGoSection[] = ".go.buildinfo";

class File {
 public:
  explicit File(const char* path) noexcept
      : descriptor_(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (is_open()) raw_syscall(SYS_close, descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const noexcept { return descriptor_ >= 0; }

  bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    return read_some(offset, to, bytes) == static_cast<long>(bytes);
  }
  long read_some(uint64_t offset, void* to, size_t bytes) const noexcept {
    return raw_syscall(SYS_pread64, descriptor_, reinterpret_cast<long>(to), static_cast<long>(bytes),
                       static_cast<long>(offset));
  }

 private:
  long descriptor_;
};

bool has_interpreter(const File& file, const Elf64_Ehdr& header) noexcept {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

bool has_go_section(const File& file, const Elf64_Ehdr& header) noexcept {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  const auto read_section = [&](uint64_t index, Elf64_Shdr& section) {
    return file.read(header.e_shoff + index * sizeof section, &section, sizeof section);
  };
  Elf64_Shdr names;
  if (!read_section(header.e_shstrndx, names)) return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    char name[sizeof kGoSection];
    if (!read_section(i, section)) return false;
    if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_ALLOC)) continue;
    if (file.read(names.sh_offset + section.sh_name, name, sizeof name) &&
        std::memcmp(name, kGoSection, sizeof name) == 0)
      return true;
  }
  return false;
}

}  // namespace

ProgramKind program_kind(const char* path) noexcept {
  const File file(path);
  if (!file.is_open()) return ProgramKind::Unreadable;
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return ProgramKind::NotElf;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return ProgramKind::Foreign;
  if (has_go_section(file, header)) return ProgramKind::Go;
  return has_interpreter(file, header) ? ProgramKind::Dynamic : ProgramKind::Static;
}

bool script_interpreter(const char* path, char* interpreter, size_t bytes) noexcept {
  constexpr size_t kMark = 2;  // "#!"
  const File file(path);
  if (!file.is_open() || bytes <= kMark) return false;
  const long got = file.read_some(0, interpreter, bytes - 1);
  if (got < static_cast<long>(kMark) || interpreter[0] != '#' || interpreter[1] != '!') return false;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  long at = kMark;
  while (at < got && is_blank(interpreter[at])) ++at;
  size_t length = 0;
  for (; at < got && !is_blank(interpreter[at]) && interpreter[at] != '\n'; ++at)
    interpreter[length++] = interpreter[at];
  interpreter[length] = '\0';
  return length != 0;
}

}  // namespace hpcrun
