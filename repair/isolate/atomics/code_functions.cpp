#include "repair/isolate/atomics/code_functions.h"

#include <cstring>

namespace hpcrun {

namespace {

// How pointers are encoded (DW_EH_PE_*): the low half is the format, the next bits what they are relative to.
enum Encoding : uint8_t {
  kPointer = 0x00,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSigned2 = 0x0a,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
  kRelativeToData = 0x30,
};

// Returns the size of an encoded pointer, or 0 for encodings that no compiler uses there.
size_t bytes_of(uint8_t encoding) noexcept {
  switch (encoding & 0x0f) {
    case kUnsigned2:
    case kSigned2:
      return 2;
    case kUnsigned4:
    case kSigned4:
      return 4;
    case kPointer:
    case kUnsigned8:
    case kSigned8:
      return 8;
    default:
      return 0;
  }
}

template <typename T>
T at(uint64_t address) noexcept {
  T value;
  memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

void skip_leb128(uint64_t& address) noexcept {
  while (at<uint8_t>(address++) & 0x80) {
  }
}

// Returns the pointer encoding in an entry's common part (CIE), or -1.
int pointer_encoding(uint64_t common) noexcept {
  const auto version = at<uint8_t>(common + 8);
  const auto* letters = reinterpret_cast<const char*>(common + 9);
  uint64_t next = common + 9 + strlen(letters) + 1;
  if (letters[0] != 'z') return letters[0] ? -1 : static_cast<int>(kPointer);
  skip_leb128(next);  // code alignment
  skip_leb128(next);  // data alignment
  if (version == 1)
    ++next;
  else
    skip_leb128(next);  // return address register
  skip_leb128(next);    // length of the rest
  for (++letters; *letters; ++letters) {
    if (*letters == 'R') return at<uint8_t>(next);
    if (*letters == 'L') ++next;
    if (*letters == 'P') {
      const size_t bytes = bytes_of(at<uint8_t>(next));
      if (!bytes) return -1;
      next += 1 + bytes;
    }
  }
  return kPointer;
}

constexpr uint64_t kEntryBytes = 8;  // a table entry: a function's start and its entry

}  // namespace

CodeFunctions::CodeFunctions(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i)
    if (module.dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
      header_ = module.dlpi_addr + module.dlpi_phdr[i].p_vaddr;
  if (!header_) {
    why_not_ = "it has no unwind information";
    return;
  }
  const auto version = at<uint8_t>(header_);
  const size_t frame_bytes = bytes_of(at<uint8_t>(header_ + 1));
  const auto count_encoding = at<uint8_t>(header_ + 2);
  if (version != 1 || !frame_bytes || count_encoding != kUnsigned4 ||
      at<uint8_t>(header_ + 3) != (kRelativeToData | kSigned4)) {
    why_not_ = "the index of its unwind information is not of the usual form";
    return;
  }
  const uint64_t count = header_ + 4 + frame_bytes;
  size_ = at<uint32_t>(count);
  table_ = count + sizeof(uint32_t);
}

uint64_t CodeFunctions::low_of(uint32_t number) const noexcept {
  return header_ + static_cast<uint64_t>(int64_t{at<int32_t>(table_ + number * kEntryBytes)});
}

CodeFunction CodeFunctions::operator[](uint32_t number) const noexcept {
  const uint64_t low = low_of(number);
  const uint64_t entry =
      header_ + static_cast<uint64_t>(int64_t{at<int32_t>(table_ + number * kEntryBytes + 4)});
  const uint64_t back = entry + sizeof(uint32_t);
  const int encoding = pointer_encoding(back - at<uint32_t>(back));
  const size_t bytes = encoding < 0 ? 0 : bytes_of(static_cast<uint8_t>(encoding));
  const uint64_t length_at = back + sizeof(uint32_t) + bytes;
  uint64_t high = low;
  if (bytes == 8) high += at<uint64_t>(length_at);
  if (bytes == 4) high += at<uint32_t>(length_at);
  if (bytes == 2) high += at<uint16_t>(length_at);
  if (number + 1 < size_ && low_of(number + 1) < high) high = low_of(number + 1);
  return {low, high};
}

}  // namespace hpcrun
