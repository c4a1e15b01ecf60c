#pragma once
// Files that the user named for a picture or a table.

#include <QIODevice>
#include <filesystem>
#include <functional>

namespace prof::viewer {

// Lets `write` write the file, which has its name when all is written (NamedOutput); "-" is standard output.
// Throws std::runtime_error, with one line.
void write_to(const std::filesystem::path& file, const std::function<void(QIODevice&)>& write);

}  // namespace prof::viewer
