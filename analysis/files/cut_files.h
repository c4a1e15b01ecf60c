#pragma once
// Files that are truncated while prof has them mapped: measurements, databases, recordings, and the programs
// whose symbols are read, which a build may rewrite at any time.

namespace prof {

// From now on an access past the end of a mapped file reads zeros instead of ending prof by SIGBUS, and one
// line on standard error names the file; readers take zeros for damage. Any other SIGBUS ends prof as before.
// Called once, at the start of a program, before it has threads.
void survive_cut_files();

}  // namespace prof
