#pragma once
// Decompresses what libelf cannot: elfutils before 0.189 does not support zstd, with which toolchains
// compress debug sections (`-gz=zstd`).

namespace prof {

// Takes an open ELF file. Returns it unchanged, or, if it has sections compressed with zstd, closes it and
// returns a copy in memory with these sections decompressed. Sections that are damaged, or that decompress to
// more than 4 GiB, stay compressed. The caller closes the returned file. May be called from any thread.
int expand_sections(int fd);

}  // namespace prof
