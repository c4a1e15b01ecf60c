#pragma once
// Decompresses what libelf cannot: elfutils before 0.189 have no zstd, by which toolchains compress debug
// sections
// (`-gz=zstd`).

namespace prof {

// Takes an open ELF file. Returns it as it is, or, if it has sections compressed by zstd, a copy in memory
// that has them decompressed; the file is closed then. Sections that are damaged, or that decompress to more
// than 4 GiB, stay compressed. The caller closes what is returned. May be called from any thread.
int expand_sections(int fd);

}  // namespace prof
