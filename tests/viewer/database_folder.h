#pragma once
// Databases on disk for tests of the viewer.

#include <filesystem>

#include "analysis/database/model.h"
#include "tests/analysis/database/files.h"

namespace prof::test {

class DatabaseFolder {
 public:
  explicit DatabaseFolder(const Database& database);
  std::filesystem::path path() const { return folder_.path() / "database"; }

 private:
  TemporaryDirectory folder_;
};

}  // namespace prof::test
