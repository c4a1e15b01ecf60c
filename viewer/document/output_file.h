#pragma once
// Writes files that the user named for a picture or a table.

#include <QIODevice>
#include <filesystem>
#include <functional>

namespace prof::viewer {

// Calls `write` to write the file. It gets its name when it is complete (NamedOutput). "-" is standard
// output. Throws std::runtime_error with a one-line message.
void write_to(const std::filesystem::path& file, const std::function<void(QIODevice&)>& write);

}  // namespace prof::viewer
