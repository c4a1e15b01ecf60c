#pragma once
// Which source files the database gets a copy of, so that it can be looked at where the sources are not.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Marks as `copied` the files that are here, are text that somebody wrote (not megabytes of
// generated code), and have one absolute path; such paths lose their "." and "..".
void mark_sources(std::vector<SourceFile>& files);

}  // namespace prof
