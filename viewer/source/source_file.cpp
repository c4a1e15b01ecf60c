#include "viewer/source/source_file.h"

#include <QFile>
#include <vector>

namespace prof::viewer {

namespace fs = std::filesystem;

namespace {

constexpr qint64 kMaxBytes = 16 << 20;  // bytes; a larger file would block the window

}  // namespace

SourceText read_source(const fs::path& database, const SourceFile& file) {
  const fs::path path = file.path;
  std::vector<fs::path> places;
  if (file.copied) places.push_back(database / "src" / path.relative_path());
  if (path.is_absolute()) places.push_back(path);
  QStringList looked;
  for (const fs::path& place : places) {
    const QString name = QString::fromStdString(place.string());
    QFile in(name);
    std::error_code error;
    if (!fs::is_regular_file(place, error) || !in.open(QIODevice::ReadOnly)) {
      looked << name;
    } else if (in.size() > kMaxBytes) {
      looked << name + " (larger than 16 MiB)";
    } else {
      return {QString::fromUtf8(in.readAll()), {}};
    }
  }
  if (looked.isEmpty())
    return {{},
            QString::fromStdString(file.path) + ": its folder is not known, and the database has no copy"};
  return {{}, "no source file at " + looked.join(" or ")};
}

}  // namespace prof::viewer
