#pragma once
// What two compared runs are called where their whole paths would hide what differs.

#include <QString>
#include <filesystem>

namespace prof::viewer {

struct RunNames {
  QString opened, other;
};

// The last folders of their paths, as many as tell them apart; a database in a folder of measurements is
// named as that.
RunNames names_of(const std::filesystem::path& opened, const std::filesystem::path& other);

}  // namespace prof::viewer
