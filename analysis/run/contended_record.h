#pragma once
// Data that threads of one process contended for: "contention" in run.json.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/allocation_site.h"
#include "analysis/run/kinds.h"
#include "analysis/run/record_fields.h"
#include "hpcrun/model/cache_line.h"
#include "hpcrun/model/memory_access.h"
#include "hpcrun/model/placement.h"

namespace prof {

struct ContendedRecord {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;    // pid
  uint64_t processes = 1;  // that this record represents; the others are not named
  hpcrun::Sharing sharing = hpcrun::Sharing::None;
  DataKind kind = DataKind::Unknown;
  std::string name;      // of the variable, or of its memory region ("[heap]"); empty if unknown
  std::string type;      // empty if unknown
  std::string declared;  // "stats.cpp:12"; empty if unknown
  std::string module;    // the file that contains the variable; empty if unknown
  uint64_t address = 0;  // of the object's start in its module; in memory if there is no module
  uint64_t bytes = 0;    // of the object; 0 if unknown
  uint64_t lines = 0;    // cache lines
  double weight_s = 0;   // CPU time that was sampled there
  double saving_s = 0;   // CPU time that the threads would save without each other, also in code nearby
  double saving_low_s = 0, saving_high_s = 0;  // an estimated interval around it
  uint64_t followed = 0;                       // threads for which the saving is known
  double false_moves = 0;  // how often the lines moved, in observed accesses; for comparison
  double true_moves = 0;
  double adjacent_moves = 0;
  EvidenceSource source = EvidenceSource::Breakpoints;
  // Set if hardware recorded them:
  double transfers = 0;        // loads that found a line in another processor's cache
  double transfers_per_s = 0;  // 0 if the time is unknown
  double hitm = 0;             // of these, loads of a line that was modified there
  double remote_hitm = 0;      // of the HITM loads, those from another node or socket
  double latency_cycles = 0;   // of all transfers together
  // Set if writes were counted: updates of the lines that followed another thread's, in total and per second.
  double interleaved = 0;
  double interleaved_per_s = 0;  // 0 if the time is unknown
  // The proposed change:
  uint64_t bytes_after = 0;  // of the object with all `changes`; 0 if unknown
  Remedy remedy = Remedy::None;
  std::string advice;

  // An alignment that separates the threads' data, as the advice states it. Empty if none does or the layout
  // is unknown.
  struct Change {
    ChangedPart what = ChangedPart::Member;
    std::string name;  // of the member, variable or array; empty for a type
    std::string type;  // "struct Stats": of the member, the type itself, or of an element; empty if unknown
    std::string file;  // where the aligned part is declared; empty if unknown
    uint64_t line = 0;
    uint64_t alignas_bytes = 0;  // the alignment
    std::string text;            // what to write: "alignas(64)"
    // Size of `type` or of the variable; bytes_after with all changes. 0 if unknown.
    uint64_t bytes_before = 0;
    uint64_t bytes_after = 0;
  };
  std::vector<Change> changes;

  // The allocations of one calling context, if the finding's data were allocated.
  struct Allocation {
    uint32_t context = 0;  // index into Database::contexts
    uint64_t bytes = 0;    // of each; 0 if they vary
    uint64_t objects = 0;  // that threads contended for
  };
  std::vector<Allocation> allocations;

  struct Side {
    uint32_t profile = 0;  // index into Database::profiles: the thread
    std::string name;      // of the variable that contains the bytes; empty if it is unknown
    std::string declared;  // "stats.cpp:12", of that variable; empty if unknown
    std::string place;     // "[3].hits"; empty for the object itself, or if unknown
    hpcrun::AccessKind access = hpcrun::AccessKind::ReadWrite;
    uint64_t offset = 0;  // from the object's start
    uint64_t bytes = 0;
    uint64_t line = 0;         // address of its cache line in memory; 0 if unknown
    uint64_t line_offset = 0;  // of the first byte, within the line
    uint64_t object = 0;       // number of the allocation by address, from 1; 0 if there is only one
    uint64_t allocation = 0;   // its index in `allocations` plus 1; 0 if it has none
    uint64_t accesses = 0;     // observed accesses
    double weight_s = 0;
    uint32_t context = 0;  // index into Database::contexts: the one with most of them
    // Not in run.json:
    ModuleAddress variable;       // the address of the variable `name`; no module if there is none
    uint64_t variable_bytes = 0;  // 0 if unknown
  };
  std::vector<Side> sides;  // with most accesses first

  // States what was or could be done about the data in the running program, as a sentence. Empty if repair
  // was not requested.
  std::string repair;

  // Not in run.json: the source of repair.json (analysis/pipeline/repairs.h).
  struct Placeable {
    uint32_t context = 0;         // of the allocation, as in Allocation
    bool is_mapping = false;      // not from an allocator
    AllocationSite site;          // without names; no frames if in generated code, or lost
    hpcrun::Placement placement;  // kAsAllocated if none helps
    bool is_bound = false;        // a placement would help if the program did not request an alignment
    uint64_t conflicts_before = 0;
    uint64_t conflicts_after = 0;
  };
  std::vector<Placeable> placeable;
  ModuleAddress variable;  // the address of the variable; no module if it is not a variable
};

// Visits all fields except changes, allocations and sides.
template <typename Visit>
void for_each_field(RecordOf<ContendedRecord> auto& record, Visit visit) {
  visit("host", record.host);
  visit("rank", record.rank);
  visit("process", record.process);
  visit("processes", record.processes);
  visit("sharing", record.sharing);
  visit("kind", record.kind);
  visit("name", record.name);
  visit("type", record.type);
  visit("declared", record.declared);
  visit("module", record.module);
  visit("address", record.address);
  visit("bytes", record.bytes);
  visit("lines", record.lines);
  visit("weight_s", record.weight_s);
  visit("saving_s", record.saving_s);
  visit("saving_low_s", record.saving_low_s);
  visit("saving_high_s", record.saving_high_s);
  visit("followed", record.followed);
  visit("false_moves", record.false_moves);
  visit("true_moves", record.true_moves);
  visit("adjacent_moves", record.adjacent_moves);
  visit("source", record.source);
  visit("transfers", record.transfers);
  visit("transfers_per_s", record.transfers_per_s);
  visit("hitm", record.hitm);
  visit("remote_hitm", record.remote_hitm);
  visit("latency_cycles", record.latency_cycles);
  visit("interleaved", record.interleaved);
  visit("interleaved_per_s", record.interleaved_per_s);
  visit("bytes_after", record.bytes_after);
  visit("remedy", record.remedy);
  visit("advice", record.advice);
  visit("repair", record.repair);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Change> auto& change, Visit visit) {
  visit("what", change.what);
  visit("name", change.name);
  visit("type", change.type);
  visit("file", change.file);
  visit("line", change.line);
  visit("alignas", change.alignas_bytes);
  visit("text", change.text);
  visit("bytes_before", change.bytes_before);
  visit("bytes_after", change.bytes_after);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Allocation> auto& allocation, Visit visit) {
  visit("context", allocation.context);
  visit("bytes", allocation.bytes);
  visit("objects", allocation.objects);
}

template <typename Visit>
void for_each_field(RecordOf<ContendedRecord::Side> auto& side, Visit visit) {
  visit("profile", side.profile);
  visit("name", side.name);
  visit("declared", side.declared);
  visit("place", side.place);
  visit("access", side.access);
  visit("offset", side.offset);
  visit("bytes", side.bytes);
  visit("line", side.line);
  visit("line_offset", side.line_offset);
  visit("object", side.object);
  visit("allocation", side.allocation);
  visit("accesses", side.accesses);
  visit("weight_s", side.weight_s);
  visit("context", side.context);
}

}  // namespace prof
