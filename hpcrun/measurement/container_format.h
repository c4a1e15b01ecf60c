#pragma once
// Defines the layout of a container, in which the ranks of a node store their measurement files as one file
// (docs/formats.md, "Containers"). Numbers are little-endian.

#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr char kContainerSuffix[] = ".ranks";
constexpr char kContainerMagic[8] = {'p', 'r', 'o', 'f', 'r', 'a', 'n', 'k'};
constexpr char kMemberMagic[8] = {'p', 'r', 'o', 'f', 'm', 'e', 'm', 'b'};
constexpr uint16_t kContainerMajor = 1;  // a reader refuses any other
constexpr uint16_t kContainerMinor = 0;  // a reader accepts newer ones
// Headers and contents begin at pages, so that contents can be mapped as files are.
constexpr uint32_t kContainerHeaderBytes = kPageBytes;
constexpr uint32_t kMemberHeaderBytes = kPageBytes;

// At the start of the file, followed by the strings: host, node-local directory, and `place` of
// ContainerOwner.
struct ContainerHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t byte_order;  // kByteOrderMark
  uint32_t header_bytes;
  uint32_t host_bytes;
  uint32_t local_bytes;
  uint32_t place_bytes;
  uint32_t reserved;
  uint32_t checksum;  // of the fields before it and of the strings
};
static_assert(sizeof(ContainerHeader) == 40);

// Precedes each member, and is followed by its name.
struct MemberHeader {
  char magic[8];
  uint64_t at;  // offset of this header in the file
  uint64_t bytes;
  uint32_t header_bytes;
  uint32_t contents_checksum;
  uint32_t name_bytes;
  uint32_t checksum;  // of the fields before it and of the name
};
static_assert(sizeof(MemberHeader) == 40);

constexpr uint32_t kMaxNameBytes = 255;

}  // namespace hpcrun
