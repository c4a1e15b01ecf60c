#include "hpcrun/unwind/shared_tables.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>
#include <new>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/unwind/scratch.h"
#include "hpcrun/unwind/table_memory.h"

namespace hpcrun {
namespace {

constexpr char kMagic[8] = {'u', 'n', 'w', 't', 'a', 'b', 'l', 'e'};
constexpr uint32_t kVersion = 1;  // of this layout and of the meaning of rules
constexpr uint32_t kMinRows = 128;
constexpr size_t kFolderBytes = 4096 + 1;
constexpr size_t kFileBytes = kFolderBytes + 2 * ImageDescription::kMaxBuildIdBytes + 1;
constexpr size_t kPidBytes = 12;

// Must match for a table to be used for an image. A build ID is not enough: tools that edit files keep it.
struct Key {
  uint64_t hdr = 0;
  uint64_t hdr_bytes = 0;
  uint64_t text_start = 0;
  uint64_t text_end = 0;
  uint8_t build_id[ImageDescription::kMaxBuildIdBytes] = {};
  bool operator==(const Key&) const noexcept = default;
};

// Precedes the rows, rules, blocks and programs, then the instruction bytes. Pointers in programs are stored
// as offsets into these.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sizes[4];  // of the types of the four arrays
  uint32_t counts[4];
  uint64_t instruction_bytes;
  uint64_t first;
  uint64_t end;
  Key key;

  uint64_t file_bytes() const noexcept {
    uint64_t bytes = sizeof(Header) + instruction_bytes;
    for (int i = 0; i < 4; ++i) bytes += uint64_t{sizes[i]} * counts[i];
    return bytes;
  }
};
constexpr uint32_t kSizes[4] = {sizeof(Row), sizeof(uint32_t), sizeof(Rule), sizeof(CfiProgram)};
static_assert(sizeof(Header) % 8 == 0 && sizeof(Row) % 8 == 0 && sizeof(Rule) % 8 == 0);

char folder[kFolderBytes];
std::atomic<size_t> mapped_bytes{0};

Key key_of(const ImageDescription& image) noexcept {
  Key key;
  key.hdr = image.eh_frame_hdr - image.load_bias;
  key.hdr_bytes = image.eh_frame_hdr_bytes;
  key.text_start = image.text_start - image.load_bias;
  key.text_end = image.text_end - image.load_bias;
  std::memcpy(key.build_id, image.build_id, image.build_id_bytes);
  return key;
}

bool has_name(const ImageDescription& image) noexcept {
  return folder[0] != '\0' && image.build_id_bytes != 0 && image.eh_frame_hdr != 0;
}

struct Paths {
  char file[kFileBytes];
  char unfinished[kFileBytes + kPidBytes];

  explicit Paths(const ImageDescription& image) noexcept {
    size_t at = static_cast<size_t>(snprintf(file, sizeof file, "%s/", folder));
    for (uint32_t i = 0; i < image.build_id_bytes; ++i)
      at += static_cast<size_t>(snprintf(file + at, sizeof file - at, "%02x", image.build_id[i]));
    snprintf(unfinished, sizeof unfinished, "%s.%d", file, sys_getpid());
  }
};

// True if the file belongs to this user or the superuser: no other user can have changed it.
bool is_trusted(const struct stat& file) noexcept {
  const auto user = static_cast<uid_t>(raw_syscall(SYS_geteuid));
  return S_ISREG(file.st_mode) && (file.st_uid == user || file.st_uid == 0) && (file.st_mode & 022) == 0;
}

const Header* map_file(const char* path) noexcept {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                              O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return nullptr;
  struct stat file {};
  const bool known = raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&file)) == 0;
  const auto bytes = static_cast<size_t>(file.st_size);
  void* at = MAP_FAILED;
  if (known && is_trusted(file) && bytes >= sizeof(Header))
    at = sys_mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, static_cast<int>(fd), 0);
  raw_syscall(SYS_close, fd);
  if (at == MAP_FAILED) return nullptr;
  const auto* header = static_cast<const Header*>(at);
  if (std::memcmp(header->magic, kMagic, sizeof kMagic) == 0 && header->version == kVersion &&
      std::memcmp(header->sizes, kSizes, sizeof kSizes) == 0 && header->file_bytes() == bytes) {
    mapped_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return header;
  }
  sys_munmap(at, bytes);
  return nullptr;
}

bool find_bytes(Bytes& bytes, const uint8_t* instructions, uint64_t instruction_bytes) noexcept {
  const auto offset = reinterpret_cast<uint64_t>(bytes.data);
  if (offset > instruction_bytes || bytes.size > instruction_bytes - offset) return false;
  bytes.data = instructions + offset;
  return true;
}

// Returns nullptr if there is no memory, or if the file is damaged.
const CfiProgram* copy_programs(const char* from, const Header& header) noexcept {
  const uint32_t count = header.counts[3];
  auto* programs = static_cast<CfiProgram*>(immutable_allocate(count * sizeof(CfiProgram)));
  if (!programs) return nullptr;
  std::memcpy(static_cast<void*>(programs), from, count * sizeof(CfiProgram));
  const auto* instructions = reinterpret_cast<const uint8_t*>(from) + count * sizeof(CfiProgram);
  for (uint32_t i = 0; i < count; ++i) {
    if (!find_bytes(programs[i].cie.instructions, instructions, header.instruction_bytes) ||
        !find_bytes(programs[i].fde.instructions, instructions, header.instruction_bytes))
      return nullptr;
  }
  return programs;
}

class Output {
 public:
  explicit Output(const char* path) noexcept
      : fd_(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~Output() {
    if (fd_ >= 0) raw_syscall(SYS_close, fd_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool is_open() const noexcept { return fd_ >= 0; }

  bool write(const void* from, size_t bytes) noexcept {
    const auto* at = static_cast<const char*>(from);
    while (bytes != 0) {
      const long written = raw_syscall(SYS_write, fd_, reinterpret_cast<long>(at), static_cast<long>(bytes));
      if (written <= 0) return false;
      at += written;
      bytes -= static_cast<size_t>(written);
    }
    return true;
  }

 private:
  long fd_;
};

// False if the write would exceed the limit, which raises SIGXFSZ.
bool is_allowed(uint64_t bytes) noexcept {
  rlimit limit{};
  return raw_syscall(SYS_getrlimit, RLIMIT_FSIZE, reinterpret_cast<long>(&limit)) == 0 &&
         limit.rlim_cur >= bytes;
}

struct Packed {
  Scratch<CfiProgram> programs;
  Scratch<uint8_t> instructions;

  bool add(Bytes& bytes) noexcept {
    const size_t offset = instructions.size();
    if (!instructions.resize_zeroed(offset + bytes.size)) return false;
    std::memcpy(instructions.begin() + offset, bytes.data, bytes.size);
    bytes.data = reinterpret_cast<const uint8_t*>(offset);
    return true;
  }

  bool add(CfiProgram program) noexcept {
    return add(program.cie.instructions) && add(program.fde.instructions) && programs.push(program);
  }
};

bool write_table(const char* path, const Key& key, const UnwindTable& table) noexcept {
  Packed packed;
  for (uint32_t i = 0; i < table.program_count; ++i)
    if (!packed.add(table.programs[i])) return false;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  std::memcpy(header.sizes, kSizes, sizeof kSizes);
  const uint32_t counts[4] = {table.row_count, table.block_count, table.rule_count, table.program_count};
  std::memcpy(header.counts, counts, sizeof counts);
  header.instruction_bytes = packed.instructions.size();
  header.first = table.first;
  header.end = table.end;
  header.key = key;
  if (!is_allowed(header.file_bytes())) return false;
  Output file(path);
  if (!file.is_open()) return false;
  // Rows, rules and blocks are used in place, so they must stay aligned; programs are copied when mapped.
  const bool written = file.write(&header, sizeof header) &&
                       file.write(table.rows, counts[0] * sizeof(Row)) &&
                       file.write(table.rules, counts[2] * sizeof(Rule)) &&
                       file.write(table.blocks, counts[1] * sizeof(uint32_t)) &&
                       file.write(packed.programs.data(), counts[3] * sizeof(CfiProgram)) &&
                       file.write(packed.instructions.data(), packed.instructions.size());
  if (!written) raw_syscall(SYS_unlink, reinterpret_cast<long>(path));
  return written;
}

}  // namespace

void share_tables_in(const char* path) noexcept {
  const size_t length = std::strlen(path);
  folder[0] = '\0';
  if (length >= sizeof folder) return;
  std::memcpy(folder, path, length + 1);
  if (raw_syscall(SYS_access, reinterpret_cast<long>(folder), F_OK) != 0) folder[0] = '\0';
}

const UnwindTable* find_shared_table(const ImageDescription& image) noexcept {
  if (!has_name(image)) return nullptr;
  const Mapped<Paths> paths(image);
  const Header* header = paths ? map_file(paths->file) : nullptr;
  if (!header) return nullptr;
  const auto* rows = reinterpret_cast<const char*>(header + 1);
  const char* rules = rows + header->counts[0] * sizeof(Row);
  const char* blocks = rules + header->counts[2] * sizeof(Rule);
  const char* programs = blocks + header->counts[1] * sizeof(uint32_t);
  auto* table = static_cast<UnwindTable*>(lasting_allocate(sizeof(UnwindTable)));
  const CfiProgram* copied = header->counts[3] ? copy_programs(programs, *header) : nullptr;
  if (!table || !(header->key == key_of(image)) || (header->counts[3] && !copied)) {
    mapped_bytes.fetch_sub(header->file_bytes(), std::memory_order_relaxed);
    sys_munmap(const_cast<Header*>(header), header->file_bytes());
    return nullptr;
  }
  new (table) UnwindTable{header->first,
                          header->end,
                          reinterpret_cast<const Row*>(rows),
                          header->counts[0],
                          reinterpret_cast<const uint32_t*>(blocks),
                          header->counts[1],
                          reinterpret_cast<const Rule*>(rules),
                          header->counts[2],
                          copied,
                          header->counts[3],
                          nullptr};
  return table;
}

void share_table(const ImageDescription& image, const UnwindTable& table) noexcept {
  if (!has_name(image) || table.row_count < kMinRows) return;  // a module with an index has no rows
  const Mapped<Paths> paths(image);
  if (!paths || !write_table(paths->unfinished, key_of(image), table)) return;
  if (raw_syscall(SYS_rename, reinterpret_cast<long>(paths->unfinished),
                  reinterpret_cast<long>(paths->file)) != 0)
    raw_syscall(SYS_unlink, reinterpret_cast<long>(paths->unfinished));
}

size_t shared_table_bytes() noexcept {
  return mapped_bytes.load(std::memory_order_relaxed);
}

}  // namespace hpcrun
