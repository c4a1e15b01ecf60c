#include "analysis/views/compare/source_text.h"

#include <vector>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/input.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxSource = 64u << 20;  // held in memory; larger files are generated

std::string first_of(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    try {
      return read_text_file(place, kMaxSource);
    } catch (const DatabaseError&) {
      continue;  // missing, or not readable for this user
    }
  }
  return {};
}

}  // namespace

SourceText::SourceText(const fs::path& database, const SourceFile& file)
    : database_(database), file_{fs::path(file.path).lexically_normal().string(), file.copied} {}

std::string SourceText::copy() const {
  const fs::path path = file_.path;
  if (!path.is_absolute() || !file_.copied) return {};
  const fs::path copy = fs::path(format::kSourceFolder) / path.relative_path();
  return first_of({database_ / copy, database_ / "database" / copy});
}

std::string SourceText::copy_or_file() const {
  const fs::path path = file_.path;
  if (!path.is_absolute()) return {};
  std::string text = copy();
  return text.empty() ? first_of({path}) : text;
}

}  // namespace prof
