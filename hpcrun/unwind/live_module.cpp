#include "hpcrun/unwind/live_module.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

#include "hpcrun/elf/frame_index.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"

extern "C" int _dl_find_object(void*, dl_find_object*) noexcept __attribute__((weak));

namespace hpcrun {
namespace {

// Reads a string of unknown length, in pieces that do not cross a page boundary.
bool read_string(uint64_t from, char* to, size_t bytes) noexcept {
  constexpr uint64_t kPiece = 64;
  for (size_t at = 0; at < bytes;) {
    const uint64_t piece = kPiece - (from + at) % kPiece;
    const size_t take = piece < bytes - at ? piece : bytes - at;
    if (!safe_read(from + at, to + at, take)) return false;
    if (memchr(to + at, 0, take)) return true;
    at += take;
  }
  return false;
}

// Copies one record, whose bytes then form a section of their own.
bool copy_record(uint64_t address, uint64_t load_bias, uint8_t* to, CfiSection& section) noexcept {
  uint32_t length;
  if (!safe_read(address, &length, sizeof length)) return false;
  const size_t total = size_t{length} + sizeof length;
  if (length == 0 || total > LiveScratch::kMaxRecordBytes || !safe_read(address, to, total)) return false;
  section = {{to, total}, address - load_bias, load_bias, false};
  return true;
}

// Searches .eh_frame_hdr. Returns false if it has no index of the usual form, or no entry for the address.
bool find_fde(const ImageDescription& image, uint64_t address, uint64_t& fde) noexcept {
  uint8_t head[FrameIndex::kUsualHeadBytes];
  FrameIndex index;
  FrameIndexEntry entry;
  const auto wanted = static_cast<int64_t>(address - image.eh_frame_hdr);
  if (image.eh_frame_hdr == 0 || !safe_read(image.eh_frame_hdr, head, sizeof head) ||
      !read_frame_index({head, sizeof head}, index) ||
      !find_frame_entry(SafeSource(), image.eh_frame_hdr, index, wanted, entry))
    return false;
  fde = image.eh_frame_hdr + static_cast<uint64_t>(int64_t{entry.record});
  return true;
}

// Not inlined, to keep its records off the handler's stack during further calls.
__attribute__((noinline)) bool run_to_row(uint64_t address, LiveScratch& s) noexcept {
  uint64_t at;
  if (!find_fde(s.image, address, at)) return false;
  const uint64_t bias = s.image.load_bias;
  CfiSection fde_section;
  CfiSection cie_section;
  if (!copy_record(at, bias, s.fde_bytes, fde_section)) return false;
  const CfiRecord fde = split_record(fde_section, 0);
  if (fde.kind != CfiRecordKind::Fde) return false;
  if (!copy_record(at + static_cast<uint64_t>(fde.cie_offset), bias, s.cie_bytes, cie_section)) return false;
  const CfiRecord cie = split_record(cie_section, 0);
  return cie.kind == CfiRecordKind::Cie && parse_cie(cie.body, s.cie) &&
         parse_fde(fde_section, fde.body, s.cie, s.fde) && s.machine.start(s.cie, s.fde, false) &&
         s.machine.run_to(address - bias);
}

}  // namespace

// Returns the path that was given to execve, made absolute if possible. For systems without /proc.
static const char* executed_path(char* buffer, size_t bytes) noexcept {
  const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (!name || name[0] == '/') return name ? name : buffer;
  const long length =
      raw_syscall(SYS_getcwd, reinterpret_cast<long>(buffer), static_cast<long>(bytes));  // includes the NUL
  const size_t name_bytes = strlen(name) + 1;
  if (length <= 0 || static_cast<size_t>(length) + name_bytes > bytes) return name;
  buffer[length - 1] = '/';
  memcpy(buffer + length, name, name_bytes);
  return buffer;
}

const char* module_path(const char* loader_name, char* buffer, size_t bytes) noexcept {
  if (strcmp(loader_name, "linux-vdso.so.1") == 0) return "[vdso]";
  if (loader_name[0] != 0) return loader_name;
  const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>("/proc/self/exe"),
                                  reinterpret_cast<long>(buffer), static_cast<long>(bytes - 1));
  buffer[length > 0 ? length : 0] = 0;
  return length > 0 ? buffer : executed_path(buffer, bytes);
}

bool find_live_code(uint64_t address, LiveScratch& s, LiveCode& code) noexcept {
  code = LiveCode{};
  if (!_dl_find_object) return false;
  if (_dl_find_object(reinterpret_cast<void*>(address), &s.found) != 0) return false;

  const SafeSource file(reinterpret_cast<uint64_t>(s.found.dlfo_map_start));
  if (!safe_read(reinterpret_cast<uint64_t>(s.found.dlfo_link_map), &s.map, sizeof s.map)) return false;
  if (read_elf_header(file, s.elf) != ElfStatus::Ok) return false;
  const uint64_t all_headers = segment_count(file, s.elf);
  const size_t headers = all_headers < LiveScratch::kMaxHeaders ? all_headers : LiveScratch::kMaxHeaders;
  if (headers == 0 || !file.read(s.elf.e_phoff, s.headers, headers * sizeof(Elf64_Phdr))) return false;
  if (!read_string(reinterpret_cast<uint64_t>(s.map.l_name), s.path, sizeof s.path)) return false;
  const char* const path = module_path(s.path, s.path, sizeof s.path);
  describe_image(s.headers, headers, s.map.l_addr, s.image);
  if (address < s.image.start || address >= s.image.end) return false;

  mark_modules_stale(true);
  const ModuleIdentity* identity = identify(s.image, path);
  if (identity) code.module = identity->info.id;
  code.load_bias = s.image.load_bias;
  code.executable = address >= s.image.text_start && address < s.image.text_end;
  code.has_row = code.executable && run_to_row(address, s);
  code.signal_frame = code.has_row && s.cie.signal_frame;
  return true;
}

}  // namespace hpcrun
