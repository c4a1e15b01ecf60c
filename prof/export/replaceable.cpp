#include "prof/export/replaceable.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"
#include "prof/export/gzip.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLookedAtBytes = 4096;
constexpr std::string_view kCsvHeader =
    "host,rank,process,thread,name,depth,function,file,line,module,offset,";

// True for a line of collapsed stacks, a format without a mark of its own: frames, a blank and a count.
bool is_stack_and_count(std::string_view line) {
  const size_t blank = line.rfind(' ');
  return blank != line.npos && blank > 0 && blank + 1 < line.size() &&
         line.find_first_not_of("0123456789", blank + 1) == line.npos;
}

bool are_collapsed_stacks(std::string_view text) {
  if (text.empty()) return false;
  if (text.size() == kLookedAtBytes) text = text.substr(0, text.rfind('\n') + 1);  // omits a truncated line
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == text.npos || !is_stack_and_count(text.substr(0, end))) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

// True if the first packet is a snapshot of the clock BOOTTIME, as in traces that prof writes.
bool is_perfetto_trace(std::string_view beginning) {
  constexpr std::string_view kBoottime = "\x08\x06\x10";
  return beginning.starts_with('\n') && beginning.substr(0, 20).find(kBoottime) != beginning.npos;
}

}  // namespace

bool begins_like_export(const ExportFormatInfo& format, std::string_view beginning) {
  switch (format.format) {
    case ExportFormat::Collapsed:
      return are_collapsed_stacks(beginning);
    case ExportFormat::Pprof:
      return beginning.size() > kGzipMarkAt && beginning.substr(kGzipMarkAt).starts_with(kGzipMark);
    case ExportFormat::Speedscope:
      return beginning.starts_with(
          R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"prof")");
    case ExportFormat::Firefox:
      return beginning.starts_with(R"({"meta":{"interval":)");
    case ExportFormat::Perfetto:
      return is_perfetto_trace(beginning);
    case ExportFormat::Callgrind:
      return beginning.starts_with("# callgrind format\nversion: 1\ncreator: prof\n");
    case ExportFormat::Otf2:
      return false;  // a folder
    case ExportFormat::Csv:
      return beginning.starts_with(kCsvHeader);
    case ExportFormat::Json:
      return beginning.starts_with(R"({"schema":"prof-export/1")");
    case ExportFormat::Html:
      return beginning.starts_with("<!DOCTYPE html>\n<!-- prof export -->\n");
    case ExportFormat::Cali:
      return beginning.starts_with("__rec=node,");
    case ExportFormat::Extrap:
      return beginning.starts_with(R"({"params":{")");
  }
  return false;
}

void require_replaceable(const fs::path& path, const ExportFormatInfo& format, bool force) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(kOwnFailure, "cannot write {}: {}", path.string(), std::strerror(errno));
    return;
  }
  if (S_ISLNK(status.st_mode)) {
    if (!force)
      fail(kOwnFailure,
           "{} is a symbolic link; name the file that it points to, or replace the link with --force",
           path.string());
    return;
  }
  if (!S_ISREG(status.st_mode))
    fail(kOwnFailure, "{} exists and is not a regular file; name another file with -o, or use a pipe",
         path.string());
  if (force || status.st_size == 0) return;
  const RegularFile file(path);
  const auto beginning = file.is_open() ? file.read(0, kLookedAtBytes) : std::nullopt;
  if (!beginning || !begins_like_export(format, *beginning))
    fail(kOwnFailure,
         "{} exists and was not written by prof export --format={}; name another file with -o, or replace it "
         "with --force",
         path.string(), format.name);
}

}  // namespace prof
