#pragma once
// Chooses the source files that the database gets a copy of, so that it can be viewed without the sources.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Marks files as `copied` if they exist here, are text of a size that may have been written by hand (not
// megabytes of generated code), and have one absolute path. Removes "." and ".." from such paths.
void mark_sources(std::vector<SourceFile>& files);

}  // namespace prof
