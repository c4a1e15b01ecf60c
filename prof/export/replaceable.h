#pragma once
// Decides which file `prof export -o FILE` may write: a new one, or one that holds an earlier export in the
// same format. Any other file of that name is the user's, and is replaced only with --force.

#include <filesystem>
#include <string_view>

#include "prof/export/export_format.h"

namespace prof {

// Throws CommandError (125), which says what the file is, if it is not an export in this format. `force`
// accepts any regular file and any link, but never a directory, a FIFO or a device.
void require_replaceable(const std::filesystem::path& path, const ExportFormatInfo& format, bool force);

// True if a file with this beginning was written by an export in this format.
bool begins_like_export(const ExportFormatInfo& format, std::string_view beginning);

}  // namespace prof
