#pragma once
// Handles files that are truncated while prof has them mapped: measurements, databases, recordings, and
// programs whose symbols are read, which a build may rewrite at any time.

namespace prof {

// Makes accesses past the end of a mapped file read zeros instead of ending prof with SIGBUS. One line on
// standard error names the file; readers treat the zeros as damage. Any other SIGBUS ends prof as before.
// Must be called once, at the start of a program, before it has threads.
void survive_cut_files();

}  // namespace prof
