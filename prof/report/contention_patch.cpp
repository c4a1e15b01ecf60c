// The changes that contention findings suggest, as a patch of the source files (docs/repair.md).

#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "analysis/contention/source_patch.h"
#include "analysis/database/input.h"
#include "prof/report/renderers.h"

namespace prof {
namespace {

namespace fs = std::filesystem;
using SourceChange = ContendedRecord::Change;

constexpr uint64_t kMaxSource = 64u << 20;  // larger files are not hand-written

std::string where(const SourceChange& change) {
  return fmt::format("{}:{}", fs::path(change.file).filename().string(), change.line);
}

// Returns why the source may differ from what was built; empty if it does not.
std::string reason_not_as_built(const fs::path& source, const std::string& module) {
  struct stat of_source {
  }, of_module{};
  if (stat(source.c_str(), &of_source) != 0) return "does not exist";
  if (module.empty() || stat(module.c_str(), &of_module) != 0) return {};
  const auto time = [](const struct stat& file) {
    return std::pair(file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  };
  return time(of_source) > time(of_module)
             ? "is newer than the program; rebuild the program and measure it again"
             : "";
}

class PatchOfSources {
 public:
  void add(const ContendedRecord& record) {
    for (const SourceChange& change : record.changes) {
      const std::string why = add(change, record.module);
      if (why.empty()) {
        ++made_;
      } else {
        ++left_out_;
        say("{}: {}; left out", where(change), why);
      }
    }
  }

  // Writes names relative to the current directory, or absolute names if files are outside it.
  void write(Output& out) const {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    bool is_here = true;
    for (const auto& [path, patch] : files_) is_here &= !relative(path, here).empty();
    for (const auto& [path, patch] : files_) {
      const fs::path name = is_here ? relative(path, here) : path.relative_path();
      out.write(patch.diff(name.string()));
    }
    if (!is_here && made_ > 0)
      remark(
          "the sources are outside the current directory, so names in the patch start at /; apply it with "
          "`patch -p0 -d /`");
  }

  bool made_nothing() const { return made_ == 0; }
  bool left_any_out() const { return left_out_ > 0; }

 private:
  // Returns an empty path if the path is not below the folder.
  static fs::path relative(const fs::path& path, const fs::path& folder) {
    const fs::path name = path.lexically_relative(folder);
    return name.empty() || *name.begin() == ".." ? fs::path() : name;
  }

  std::string add(const SourceChange& change, const std::string& module) {
    const fs::path path = fs::path(change.file).lexically_normal();
    if (change.file.empty() || !path.is_absolute()) return "the debug information does not name the file";
    if (const std::string why = reason_not_as_built(path, module); !why.empty())
      return path.string() + " " + why;
    auto known = files_.find(path);
    if (known == files_.end()) {
      try {
        known = files_.emplace(path, SourcePatch(read_text_file(path, kMaxSource))).first;
      } catch (const DatabaseError& error) {
        return error.what();
      }
    }
    const std::string why = known->second.make(change);
    return why.empty() ? "" : "the line " + why;
  }

  std::map<fs::path, SourcePatch> files_;
  size_t made_ = 0, left_out_ = 0;
};

}  // namespace

bool contention_as_patch(const RunSummary& run, Output& out) {
  PatchOfSources patch;
  for (const ContendedRecord& record : run.contention) patch.add(record);
  patch.write(out);
  if (patch.made_nothing() && !patch.left_any_out())
    remark("no source change is known for the findings; see the advice of `--format=text`");
  return !(patch.made_nothing() && patch.left_any_out());
}

}  // namespace prof
