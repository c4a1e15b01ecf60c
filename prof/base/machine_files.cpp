#include "prof/base/machine_files.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace prof {

namespace fs = std::filesystem;

namespace {

std::string without_newline(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

}  // namespace

std::optional<std::string> MachineFiles::text(std::string_view path) const {
  std::ifstream file(root / fs::path(path).relative_path(), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream all;
  all << file.rdbuf();
  if (file.bad() || all.fail()) return std::nullopt;
  return without_newline(all.str());
}

std::optional<int64_t> MachineFiles::number(std::string_view path) const {
  const std::optional<std::string> digits = text(path);
  int64_t value = 0;
  if (!digits) return std::nullopt;
  const char* end = digits->data() + digits->size();
  const auto [at, error] = std::from_chars(digits->data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

bool MachineFiles::exists(std::string_view path) const {
  std::error_code error;
  return fs::exists(root / fs::path(path).relative_path(), error);
}

fs::path MachineFiles::program(std::string_view name) const {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/" + std::string(name);
    if (!folder.empty() && exists(path)) return path;
  }
  return {};
}

fs::path MachineFiles::library(std::string_view name) const {
  std::istringstream folders(variable("LD_LIBRARY_PATH") +
                             ":/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/lib:"
                             "/usr/local/lib:/usr/local/cuda/lib64");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/" + std::string(name);
    if (!folder.empty() && exists(path)) return path;
  }
  return {};
}

std::string MachineFiles::variable(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace prof
