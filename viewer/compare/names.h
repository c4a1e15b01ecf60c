#pragma once
// Short names of two compared runs, without the common parts of their paths.

#include <QString>
#include <filesystem>

namespace prof::viewer {

struct RunNames {
  QString opened, other;
};

// Returns the last folders of the paths, as many as distinguish them. A database in a measurement directory
// has the name of that directory.
RunNames names_of(const std::filesystem::path& opened, const std::filesystem::path& other);

}  // namespace prof::viewer
