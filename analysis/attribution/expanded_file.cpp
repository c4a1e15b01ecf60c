#include "analysis/attribution/expanded_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hpcrun/elf/headers.h"

namespace prof {
namespace {

constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older elf.h lack
constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 32;
constexpr uint64_t kAlignment = 64;

class MappedBytes {
 public:
  explicit MappedBytes(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0 || status.st_size <= 0) return;
    size_ = static_cast<size_t>(status.st_size);
    start_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (start_ == MAP_FAILED) size_ = 0;
  }
  ~MappedBytes() {
    if (size_ > 0) munmap(start_, size_);
  }
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  std::span<const char> all() const { return {static_cast<const char*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

struct CompressedSection {
  uint64_t header_offset = 0;
  Elf64_Shdr header{};
  Elf64_Chdr how{};
};

std::vector<CompressedSection> zstd_sections(const hpcrun::BytesSource& file) {
  std::vector<CompressedSection> found;
  Elf64_Ehdr header;
  if (read_elf_header(file, header) != hpcrun::ElfStatus::Ok) return found;
  uint64_t header_offset = header.e_shoff;
  any_section(file, header, [&](const Elf64_Shdr& section) {
    CompressedSection compressed{header_offset, section, {}};
    header_offset += sizeof section;
    if ((section.sh_flags & SHF_COMPRESSED) && section.sh_size > sizeof compressed.how &&
        read_item(file, section.sh_offset, 0, compressed.how) && compressed.how.ch_type == kZstd &&
        compressed.how.ch_size <= kMaxSectionBytes)
      found.push_back(compressed);
    return false;
  });
  return found;
}

bool write_all(int fd, std::span<const char> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

// Writes piece by piece, because the size that a section states may be wrong.
bool decompress(hpcrun::Bytes from, uint64_t size, int to, uint64_t offset) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  if (!stream) return false;
  std::vector<char> buffer(ZSTD_DStreamOutSize());
  ZSTD_inBuffer input{from.data, from.size, 0};
  uint64_t done = 0;
  size_t missing = 1;
  while (missing != 0) {
    ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
    const size_t read_before = input.pos;
    missing = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(missing) || output.pos > size - done) return false;
    if (output.pos == 0 && input.pos == read_before) return false;  // truncated input
    if (!write_all(to, {buffer.data(), output.pos}, offset + done)) return false;
    done += output.pos;
  }
  return done == size;
}

}  // namespace

int expand_sections(int fd) {
  const MappedBytes file(fd);
  const hpcrun::BytesSource source(std::string_view(file.all().data(), file.all().size()));
  const std::vector<CompressedSection> sections = zstd_sections(source);
  if (sections.empty()) return fd;
  const int copy = memfd_create("expanded", MFD_CLOEXEC);
  if (copy < 0) return fd;
  if (!write_all(copy, file.all(), 0)) {
    close(copy);
    return fd;
  }
  uint64_t end = file.all().size();
  for (const CompressedSection& section : sections) {
    const hpcrun::Bytes compressed =
        source.at(section.header.sh_offset + sizeof section.how, section.header.sh_size - sizeof section.how);
    const uint64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    if (!compressed.data || !decompress(compressed, section.how.ch_size, copy, offset)) continue;
    Elf64_Shdr header = section.header;
    header.sh_flags &= ~uint64_t{SHF_COMPRESSED};
    header.sh_offset = offset;
    header.sh_size = section.how.ch_size;
    header.sh_addralign = section.how.ch_addralign;
    if (!write_all(copy, {reinterpret_cast<const char*>(&header), sizeof header}, section.header_offset))
      break;
    end = offset + header.sh_size;
  }
  close(fd);
  return copy;
}

}  // namespace prof
