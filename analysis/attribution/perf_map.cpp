#include "analysis/attribution/perf_map.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "analysis/attribution/function_table.h"
#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
// A map is held in memory, and the measured program determines its size.
constexpr int64_t kMaxMapBytes = int64_t{256} << 20;
// The clock of file times lags up to a tick behind that of processes.
constexpr uint64_t kClockLagNs = kNsPerSecond / 10;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// Returns why a map is rejected; empty if it is accepted.
std::string doubt(const struct stat& status, const PerfMap& map) {
  if (status.st_size > kMaxMapBytes) return "larger than 256 MiB";
  if (status.st_uid != map.user && status.st_uid != 0) return "belongs to another user";
  const uint64_t modified = static_cast<uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
                            static_cast<uint64_t>(status.st_mtim.tv_nsec);
  return modified + kClockLagNs < map.process_start_ns ? "older than the process" : "";
}

// Returns a copy, which ends where the member ends.
File open_member(const StoredFile& member) {
  const std::optional<std::string> text = contents_of(member);
  File file(text ? std::tmpfile() : nullptr);
  if (!file || std::fwrite(text->data(), 1, text->size(), file.get()) != text->size()) return nullptr;
  std::rewind(file.get());
  return file;
}

File open_map(const PerfMap& map, std::vector<std::string>& warnings) {
  // A stored map was checked when it was added to the container.
  if (const std::optional<StoredFile> stored = find_stored(map.path); stored && stored->is_member())
    return open_member(*stored);
  RegularFile file(map.path, O_RDONLY | O_NOFOLLOW);
  if (file.error() != 0 && file.error() != EINVAL && file.error() != EFBIG) return nullptr;
  const std::string why = file.is_open() ? doubt(file.status(), map) : file.reason();
  if (why.empty()) return File(fdopen(file.release(), "r"));
  warnings.push_back(fmt::format("{}: {}; generated code has no names", map.path.string(), why));
  return nullptr;
}

struct MappedCode {
  uint64_t start = 0;
  uint64_t end = 0;
  std::string name;
};

// Reads a hexadecimal number and the blank after it. Java writes numbers with 0x.
bool take_number(std::string_view& line, uint64_t& number) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  const char* const end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data(), end, number, 16);
  if (error != std::errc{} || after == end || *after != ' ') return false;
  line.remove_prefix(static_cast<size_t>(after - line.data()) + 1);
  return true;
}

bool parse_line(std::string_view line, MappedCode& code) {
  uint64_t size = 0;
  if (!take_number(line, code.start) || !take_number(line, size)) return false;
  code.end = code.start + size;
  code.name = line;
  return !code.name.empty() && code.end > code.start;
}

// Compilers reuse memory. If several lines cover an address, the last one is valid at the end.
std::vector<MappedCode> read_map(const PerfMap& map, std::vector<std::string>& warnings) {
  std::vector<MappedCode> codes;
  const File file = open_map(map, warnings);
  if (file == nullptr) return codes;
  char* text = nullptr;
  size_t room = 0;
  for (ssize_t bytes; (bytes = getline(&text, &room, file.get())) > 0;) {
    std::string_view line(text, static_cast<size_t>(bytes));
    if (line.ends_with('\n')) line.remove_suffix(1);
    MappedCode code;
    if (parse_line(line, code)) codes.push_back(std::move(code));
  }
  std::free(text);
  std::reverse(codes.begin(), codes.end());
  std::stable_sort(codes.begin(), codes.end(),
                   [](const MappedCode& a, const MappedCode& b) { return a.start < b.start; });
  codes.erase(std::unique(codes.begin(), codes.end(),
                          [](const MappedCode& a, const MappedCode& b) { return a.start == b.start; }),
              codes.end());
  return codes;
}

}  // namespace

PerfMap left_perf_map(const ProcessMeasurement& measurement) {
  const MeasuredProcess& process = measurement.process;
  return {fmt::format("/tmp/perf-{}.map", process.pid), measurement.owner, process.start_realtime_ns};
}

std::filesystem::path kept_perf_map_path(const ProcessMeasurement& measurement) {
  const MeasuredProcess& process = measurement.process;
  return measurement.file.parent_path() / fmt::format("{}-{}.map", process.host, process.pid);
}

PerfMap perf_map_of(const ProcessMeasurement& measurement, const std::string& this_host) {
  PerfMap map = left_perf_map(measurement);
  if (const std::filesystem::path kept = kept_perf_map_path(measurement); find_stored(kept)) {
    map.path = kept;
  } else if (measurement.process.host != this_host) {
    map.path.clear();
  }
  return map;
}

bool copy_perf_map(const PerfMap& map, const std::filesystem::path& to) {
  std::vector<std::string> doubts;
  const File from = open_map(map, doubts);
  if (from == nullptr) return false;
  try {
    NewFile copy = NewFile::beside(to, FolderOwner::Own);
    char block[1 << 16];
    size_t bytes;
    while ((bytes = std::fread(block, 1, sizeof block, from.get())) > 0) copy.write({block, bytes});
    copy.keep();
  } catch (const WriteError&) {
    return false;
  }
  return true;
}

AttributedModule attribute_jit(const PerfMap& perf_map, std::span<const uint64_t> addresses) {
  AttributedModule out;
  FunctionTable table(out);
  const std::vector<MappedCode> codes = read_map(perf_map, out.warnings);
  out.first.push_back(0);
  for (const uint64_t address : addresses) {
    auto after = std::upper_bound(codes.begin(), codes.end(), address,
                                  [](uint64_t a, const MappedCode& code) { return a < code.start; });
    const bool named = after != codes.begin() && address < std::prev(after)->end;
    const uint32_t function = named ? table.function_at(std::prev(after)->start, std::prev(after)->name)
                                    : table.function_at(0, "[jit]");
    out.frames.push_back({function, kNoFile, 0, false});
    out.first.push_back(static_cast<uint32_t>(out.frames.size()));
  }
  return out;
}

}  // namespace prof
