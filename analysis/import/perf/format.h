#pragma once
// What perf.data files have beyond the kernel's own records (linux/perf_event.h). All numbers are those of
// the machine that recorded, which must be little-endian.

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>

namespace prof::perf {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kOldMagic = "PERFFILE";
constexpr std::string_view kForeignMagic = "2ELIFREP";  // other byte order

struct Section {
  uint64_t offset, bytes;
};

// At the beginning; in a pipe only the first two fields, and `bytes` says so.
struct FileHeader {
  char magic[8];
  uint64_t bytes;
  uint64_t event_bytes;  // of one entry of `events`: its attributes, then the section of its ids
  Section events;
  Section data;
  Section event_types;   // no longer used
  uint64_t features[4];  // a bit for each section behind the data
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

// Records that perf itself adds to those of the kernel.
enum ToolRecord : uint32_t {
  kToolRecords = 64,
  kHeaderAttribute = 64,
  kHeaderTracingData = 66,  // followed by as many bytes as it says
  kHeaderBuildId = 67,
  kAuxTrace = 71,  // likewise
  kEventUpdate = 78,
  kHeaderFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,
};
constexpr uint64_t kEventUpdateName = 2;

constexpr uint16_t kBuildIdHasSize = 1u << 15;  // in the misc field of an entry of the build ids
constexpr uint64_t kBuildIdBytes = 20;

// Processes of the kernel's own mappings.
constexpr int32_t kKernelProcess = -1;

// Entries of call chains that are no addresses but say what the next ones are.
constexpr uint64_t kFirstContext = static_cast<uint64_t>(-4095);

}  // namespace prof::perf
