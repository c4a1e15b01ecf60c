#include "hpcrun/measurement/container.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container_format.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {

using hpcrun::ContainerHeader;
using hpcrun::kPageBytes;
using hpcrun::MemberHeader;

namespace {

using Page = std::array<char, kPageBytes>;

// Reads a page. Bytes past the end of the file are 0.
Page page_at(int descriptor, uint64_t at) {
  Page page{};
  size_t have = 0;
  while (have < page.size()) {
    const ssize_t bytes =
        ::pread(descriptor, page.data() + have, page.size() - have, static_cast<off_t>(at + have));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    have += static_cast<size_t>(bytes);
  }
  return page;
}

template <typename Header>
Header header_in(const Page& page) {
  Header header;
  std::memcpy(&header, page.data(), sizeof header);
  return header;
}

// True if the checksum of a header and the strings after it matches.
template <typename Header>
bool holds(const Page& page, const Header& header, uint64_t strings) {
  if (strings > page.size() - sizeof header) return false;
  const uint32_t fields = hpcrun::crc32c(0, page.data(), offsetof(Header, checksum));
  return hpcrun::crc32c(fields, page.data() + sizeof header, strings) == header.checksum;
}

// True if the text is a file name without a folder.
bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::ranges::none_of(text, [](char c) { return c == '/' || c == '\0'; });
}

}  // namespace

uint64_t next_member(uint64_t end) {
  return (end + kPageBytes - 1) / kPageBytes * kPageBytes;
}

ContainerReader::ContainerReader(std::filesystem::path path, uint64_t from) : path_(std::move(path)) {
  hpcrun::detect_crc32c();
  const RegularFile file(path_);
  end_ = hpcrun::kContainerHeaderBytes;
  if (file.is_open() && file.size() >= sizeof(ContainerHeader)) read_header(file.descriptor());
  end_ = std::max(end_, from);
}

void ContainerReader::read_header(int descriptor) {
  const Page page = page_at(descriptor, 0);
  const auto header = header_in<ContainerHeader>(page);
  is_container_ = std::memcmp(header.magic, hpcrun::kContainerMagic, sizeof header.magic) == 0;
  if (!is_container_) return;
  if (!holds(page, header, uint64_t{header.host_bytes} + header.local_bytes + header.place_bytes)) {
    is_readable_ = true;  // members have checksums of their own
    damage_ = path_.string() + ": its header is damaged";
    return;
  }
  if (header.byte_order != hpcrun::kByteOrderMark || header.major != hpcrun::kContainerMajor ||
      header.header_bytes < kPageBytes || header.header_bytes % kPageBytes != 0) {
    damage_ = path_.string() + ": container format " + std::to_string(header.major) + "." +
              std::to_string(header.minor) + ", but this prof reads " +
              std::to_string(hpcrun::kContainerMajor) +
              ".x; left out: analyze with the version of prof that measured";
    return;
  }
  is_readable_ = true;
  end_ = header.header_bytes;
  const char* at = page.data() + sizeof header;
  for (const auto& [text, bytes] :
       {std::pair(&owner_.host, header.host_bytes), std::pair(&owner_.local, header.local_bytes),
        std::pair(&owner_.place, header.place_bytes)}) {
    text->assign(at, bytes);
    at += bytes;
  }
}

bool ContainerReader::take_member(int descriptor, uint64_t size, uint64_t& at) {
  const Page page = page_at(descriptor, at);
  const auto header = header_in<MemberHeader>(page);
  const uint64_t begin = at;
  at += kPageBytes;
  if (std::memcmp(header.magic, hpcrun::kMemberMagic, sizeof header.magic) != 0 || header.at != begin ||
      header.name_bytes > hpcrun::kMaxNameBytes || !holds(page, header, header.name_bytes) ||
      header.header_bytes < kPageBytes || header.header_bytes % kPageBytes != 0)
    return false;
  const std::string_view name(page.data() + sizeof header, header.name_bytes);
  const uint64_t room = size - std::min(size, begin);
  if (!is_name(name) || header.header_bytes > room || header.bytes > room - header.header_bytes) return false;
  StoredFile member(path_ / name);
  member.container = path_;
  member.offset = begin + header.header_bytes;
  member.bytes = header.bytes;
  member.checksum = header.contents_checksum;
  at = next_member(member.offset + member.bytes);
  members_.push_back(std::move(member));
  return true;
}

bool ContainerReader::read_on() {
  const RegularFile file(path_);
  const uint64_t size = file.is_open() ? file.size() : 0;
  const size_t before = members_.size();
  for (uint64_t at = end_; is_readable_ && at < size && take_member(file.descriptor(), size, at);) end_ = at;
  return members_.size() > before;
}

void ContainerReader::read_rest() {
  const RegularFile file(path_);
  const uint64_t size = file.is_open() ? file.size() : 0;
  if (!is_readable_ || end_ >= size) return;
  const size_t before = members_.size();
  uint64_t lost = 0, behind = end_;
  for (uint64_t at = end_; at < size;) {
    const uint64_t begin = at;
    if (take_member(file.descriptor(), size, at))
      behind = at;
    else
      lost += std::min(size, at) - begin;
  }
  if (members_.size() > before && lost > size - std::min(size, behind))
    damage_ = path_.string() + ": " + std::to_string(lost) +
              " bytes are damaged, and some files are lost; all other files are complete";
  else if (lost > 0)
    damage_ = path_.string() + ": the last " + std::to_string(lost) +
              " bytes are not a complete file: a rank was killed while it added them, or still adds them";
  end_ = behind;
}

}  // namespace prof
