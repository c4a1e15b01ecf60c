#pragma once
// An analysis that was interrupted at its end. The target `workers_parts` changes one part of it at a time.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace prof::test {

class WorkersSeed {
 public:
  // Analyzes a synthetic measurement in a new temporary folder.
  WorkersSeed();
  ~WorkersSeed();
  WorkersSeed(const WorkersSeed&) = delete;

  // The files that processes leave for each other.
  const std::vector<std::string>& parts() const { return parts_; }
  std::string text_of(const std::string& part) const;

  // Continues this analysis with `text` as the part, and returns the database. Throws what the analysis
  // throws.
  std::filesystem::path resume_with(const std::string& part, std::string_view text) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> parts_;
};

}  // namespace prof::test
