#pragma once
// An analysis that was interrupted at its end, of which the target `team_parts` changes one part at a time.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace prof::test {

class TeamSeed {
 public:
  // Analyzes what it makes in a new folder below the one for temporary files.
  TeamSeed();
  ~TeamSeed();
  TeamSeed(const TeamSeed&) = delete;

  // What processes leave each other.
  const std::vector<std::string>& parts() const { return parts_; }
  std::string text_of(const std::string& part) const;

  // Goes on with this analysis when a part is `text`; returns the database. Throws what the analysis does.
  std::filesystem::path resume_with(const std::string& part, std::string_view text) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> parts_;
};

}  // namespace prof::test
