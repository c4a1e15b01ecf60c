#pragma once
// Which file `prof export -o FILE` may write: a new one, or one that holds an earlier export of the same
// format. Anything else at that name is the user's, and is replaced with --force alone.

#include <filesystem>
#include <string_view>

#include "prof/export/export_format.h"

namespace prof {

// Throws CommandError (125) with what is there instead of an export of this format. `force` lets any regular
// file and any link pass, never a directory, a FIFO or a device.
void require_replaceable(const std::filesystem::path& path, const ExportFormatInfo& format, bool force);

// True if a file that begins so was written by an export of this format.
bool begins_like_export(const ExportFormatInfo& format, std::string_view beginning);

}  // namespace prof
