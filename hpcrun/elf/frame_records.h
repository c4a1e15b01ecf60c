#pragma once
// Reads the records of .eh_frame and .debug_frame: a CIE holds what its FDEs have in common, an FDE the
// unwind information of a function. Input is bytes in our own memory or a section that cannot be unmapped;
// pointers found in them are never dereferenced. Async-signal-safe.

#include <cstdint>

#include "hpcrun/elf/cursor.h"
#include "hpcrun/elf/dwarf.h"

namespace hpcrun {

// The bytes of a section, or of a copied piece of one. Addresses are those of the ELF file.
struct CfiSection {
  Bytes bytes;
  uint64_t address = 0;  // ELF address of bytes.data[0]
  // Subtracted from absolute pointers, which the loader relocated. 0: read from a file.
  uint64_t load_bias = 0;
  bool debug_frame = false;
};

struct Cie {
  Bytes instructions;
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t return_register = kReturnAddress;
  uint8_t pointer_encoding = kPointerAbsolute;
  bool augmented = false;     // 'z': FDEs carry augmentation data
  bool signal_frame = false;  // 'S': the pc of the frame is not a return address
};

struct Fde {
  uint64_t start = 0;  // ELF addresses, [start, end)
  uint64_t end = 0;
  Bytes instructions;
};

enum class CfiRecordKind : uint8_t { Cie, Fde, End, Malformed };

// A length-prefixed record, split but not parsed.
struct CfiRecord {
  CfiRecordKind kind = CfiRecordKind::Malformed;
  Bytes body;              // after the length and the CIE id or pointer
  uint64_t next = 0;       // offset of the record after it in the section
  int64_t cie_offset = 0;  // FDE: offset of its CIE in the section; may lie outside a copied piece
};

[[nodiscard]] CfiRecord split_record(const CfiSection& section, uint64_t offset) noexcept;

// Parse a record. Return false if it is malformed, or has a version or augmentation that is not supported.
[[nodiscard]] bool parse_cie(Bytes body, Cie& cie) noexcept;
[[nodiscard]] bool parse_fde(const CfiSection& section, Bytes body, const Cie& cie, Fde& fde) noexcept;

// Reads a pointer in one of the .eh_frame encodings, as an ELF address. Returns false for encodings that need
// a load.
[[nodiscard]] bool read_pointer(const CfiSection& section, Cursor& cursor, uint8_t encoding,
                                uint64_t data_base, uint64_t& value) noexcept;

}  // namespace hpcrun
