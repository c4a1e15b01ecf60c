#include "viewer/compare/names.h"

#include <vector>

namespace prof::viewer {

namespace {

namespace fs = std::filesystem;

// Returns the components with the last one first.
std::vector<std::string> parts_of(const fs::path& directory) {
  std::error_code error;
  const fs::path whole = fs::absolute(directory, error).lexically_normal();
  std::vector<std::string> parts;
  for (const fs::path& part : whole)
    if (!part.empty() && part != whole.root_path()) parts.insert(parts.begin(), part.string());
  if (parts.size() > 1 && parts.front() == "database") parts.erase(parts.begin());
  return parts;
}

std::string name_of(const std::vector<std::string>& parts, size_t count) {
  std::string name;
  for (size_t i = 0; i < std::min(count, parts.size()); ++i)
    name = name.empty() ? parts[i] : parts[i] + "/" + name;
  return name;
}

}  // namespace

RunNames names_of(const fs::path& opened, const fs::path& other) {
  const std::vector<std::string> one = parts_of(opened), two = parts_of(other);
  size_t count = 1;
  while (name_of(one, count) == name_of(two, count) && count < std::max(one.size(), two.size())) ++count;
  return {QString::fromStdString(name_of(one, count)), QString::fromStdString(name_of(two, count))};
}

}  // namespace prof::viewer
