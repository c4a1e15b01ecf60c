#pragma once
// The parts of perf.data files besides the kernel's own records (linux/perf_event.h). Numbers have the byte
// order of the recording machine, which must be little-endian.

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>

namespace prof::perf {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kOldMagic = "PERFFILE";
constexpr std::string_view kForeignMagic = "2ELIFREP";  // the other byte order

struct Section {
  uint64_t offset, bytes;
};

// At the start of the file. In a pipe only the first two fields exist, as `bytes` shows.
struct FileHeader {
  char magic[8];
  uint64_t bytes;
  uint64_t event_bytes;  // of one entry of `events`: its attributes, then the section of its ids
  Section events;
  Section data;
  Section event_types;   // obsolete
  uint64_t features[4];  // one bit for each section after the data
};
static_assert(sizeof(FileHeader) == 104);
constexpr uint64_t kPipeHeaderBytes = 16;

enum Feature : uint32_t {
  kBuildIds = 2,
  kHostName = 3,
  kSystemRelease = 4,
  kArchitecture = 6,
  kProcessor = 9,
  kCommandLine = 11,
  kEventDescriptions = 12,
  kClockData = 29,
  kFeatures = 256,
};

// Records that perf itself adds to the kernel's.
enum ToolRecord : uint32_t {
  kToolRecords = 64,
  kHeaderAttribute = 64,
  kHeaderTracingData = 66,  // followed by as many bytes as it states
  kHeaderBuildId = 67,
  kAuxTrace = 71,  // likewise
  kEventUpdate = 78,
  kHeaderFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,
};
constexpr uint64_t kEventUpdateName = 2;

constexpr uint16_t kBuildIdHasSize = 1u << 15;  // in the misc field of a build-id entry
constexpr uint64_t kBuildIdBytes = 20;

// The process ID of the kernel's own mappings.
constexpr int32_t kKernelProcess = -1;

// Entries of call chains from this value on are not addresses: they describe the entries that follow.
constexpr uint64_t kFirstContext = static_cast<uint64_t>(-4095);

}  // namespace prof::perf
