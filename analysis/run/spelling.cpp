#include "analysis/run/spelling.h"

namespace prof {
namespace {

using hpcrun::AccessKind;
using hpcrun::ContentionSource;
using hpcrun::NoteKind;
using hpcrun::Sharing;
using hpcrun::WasteKind;
using hpcrun::WhyShared;

constexpr Spelling<Sharing> kSharing[] = {
    {Sharing::None, ""}, {Sharing::False, "false"}, {Sharing::True, "true"}, {Sharing::Mixed, "mixed"}};

constexpr Spelling<AccessKind> kAccess[] = {
    {AccessKind::ReadWrite, "reads and writes"}, {AccessKind::Read, "reads"}, {AccessKind::Write, "writes"}};

constexpr Spelling<DataKind> kData[] = {
    {DataKind::Unknown, "unknown"}, {DataKind::Variable, "variable"}, {DataKind::Allocation, "allocation"}};

constexpr Spelling<EvidenceSource> kEvidenceSources[] = {
    {EvidenceSource::Breakpoints, ""},
    {EvidenceSource::Pebs, "Intel PEBS"},
    {EvidenceSource::Ibs, "AMD IBS"},
    {EvidenceSource::PebsByPerf, "Intel PEBS by perf"},
    {EvidenceSource::IbsByPerf, "AMD IBS by perf"},
    {EvidenceSource::MemoryEventsOfPerf, "memory events of perf"},
    {EvidenceSource::Pages, "exact, by pages"}};

constexpr Spelling<ContentionSource> kSources[] = {
    {ContentionSource::Breakpoints, "decoded instructions and breakpoints"},
    {ContentionSource::Pebs, "Intel PEBS"},
    {ContentionSource::Ibs, "AMD IBS"},
    {ContentionSource::Pages, "counting what threads write, page by page"}};

constexpr Spelling<Remedy> kRemedies[] = {{Remedy::None, ""},
                                          {Remedy::AlignObjects, "align-objects"},
                                          {Remedy::PadElements, "pad-elements"},
                                          {Remedy::SeparateFields, "separate-fields"},
                                          {Remedy::CopyPerThread, "copy-per-thread"}};

constexpr Spelling<ChangedPart> kParts[] = {{ChangedPart::Member, "member"},
                                            {ChangedPart::Type, "type"},
                                            {ChangedPart::Variable, "variable"},
                                            {ChangedPart::Elements, "elements"}};

constexpr Spelling<WaitedFor> kWaited[] = {{WaitedFor::UnknownLock, "lock"},
                                           {WaitedFor::Mutex, "mutex"},
                                           {WaitedFor::ReadWriteLock, "read-write lock"},
                                           {WaitedFor::SpinLock, "spin lock"},
                                           {WaitedFor::CriticalSection, "critical section"},
                                           {WaitedFor::OpenMpLock, "OpenMP lock"},
                                           {WaitedFor::Condition, "condition variable"},
                                           {WaitedFor::Semaphore, "semaphore"},
                                           {WaitedFor::Barrier, "barrier"},
                                           {WaitedFor::EndOfThread, "end of a thread"},
                                           {WaitedFor::ParallelRegion, "next parallel region"}};

constexpr Spelling<LockObstacle> kObstacles[] = {
    {LockObstacle::Memory, "memory"}, {LockObstacle::Elided, "elided"}, {LockObstacle::Priority, "priority"},
    {LockObstacle::Robust, "robust"}, {LockObstacle::Shared, "shared"}, {LockObstacle::Spin, "spin"}};

constexpr Spelling<WasteKind> kWaste[] = {{WasteKind::DeadStore, "dead-store"},
                                          {WasteKind::SilentStore, "silent-store"},
                                          {WasteKind::RedundantLoad, "redundant-load"}};

constexpr Spelling<SiteFate> kSites[] = {
    {SiteFate::Declined, "declined"}, {SiteFate::Placed, "placed"}, {SiteFate::Planned, "planned"}};

constexpr Spelling<PageFate> kPages[] = {{PageFate::Shared, "shared"}, {PageFate::Isolated, "isolated"}};

constexpr Spelling<WhyShared> kReasons[] = {
    {WhyShared::None, ""},
    {WhyShared::TrueSharing, "threads use the same bytes there"},
    {WhyShared::AtomicUse, "atomic operations work on it"},
    {WhyShared::SyncObject, "a lock or another synchronization object is on it"},
    {WhyShared::NotCommon, "it is neither a variable nor an allocation"},
    {WhyShared::SystemData, "the C or C++ library's own data is on it"},
    {WhyShared::Stack, "it is a thread's stack"},
    {WhyShared::TooMany, "the limit of 64 isolated pages is reached"},
    {WhyShared::NoSession, "the kernel or one of the threads does not allow isolation"},
    {WhyShared::Forked, "the program forked"},
    {WhyShared::Expensive, "isolation cost more than the sharing"},
    {WhyShared::AtomicModule, "a module has atomic instructions that cannot be redirected to common memory"},
    {WhyShared::Remapped, "the program unmapped or remapped the memory"},
    {WhyShared::AtomicCode,
     "threads may synchronize by the program's own atomic operations, which prof c++ can report, or by "
     "OpenMP's, which it cannot"},
    {WhyShared::CpuTime,
     "the program has a timer or a limit of its CPU time, which would not count converted threads"}};

// Append the old text here when a reason is reworded.
constexpr Spelling<WhyShared> kFormerReasons[] = {
    {WhyShared::SyncObject, "a lock, or what else threads meet at, lies on it"},
    {WhyShared::NotCommon, "it is neither a variable nor the allocator's"},
    {WhyShared::SystemData, "the C or C++ library's own data lie on it"},
    {WhyShared::TooMany, "as many pages as there can be are isolated already"},
    {WhyShared::NoSession, "the kernel or one of the threads does not allow it"},
    {WhyShared::Expensive, "that cost more than the sharing"},
    {WhyShared::AtomicModule, "atomic instructions of a module cannot be kept from it"},
    {WhyShared::Remapped, "the program gave the memory back"},
    {WhyShared::AtomicCode,
     "threads use atomic operations of the program's own, by which they may synchronise (prof c++ tells), or "
     "OpenMP's (which nothing tells)"},
    {WhyShared::CpuTime,
     "the program has a timer or a limit of its CPU time, which would not count threads as processes"}};

constexpr Spelling<NoteKind> kNotes[] = {
    {NoteKind::Run, "run"}, {NoteKind::Contention, "contention"}, {NoteKind::Traces, "traces"}};

constexpr Spelling<Guarantee> kGuarantees[] = {
    {Guarantee::None, ""}, {Guarantee::Annotated, "annotated"}, {Guarantee::Calls, "calls"}};

}  // namespace

template <>
std::span<const Spelling<Sharing>> spellings() {
  return kSharing;
}
template <>
std::span<const Spelling<AccessKind>> spellings() {
  return kAccess;
}
template <>
std::span<const Spelling<DataKind>> spellings() {
  return kData;
}
template <>
std::span<const Spelling<EvidenceSource>> spellings() {
  return kEvidenceSources;
}
template <>
std::span<const Spelling<ContentionSource>> spellings() {
  return kSources;
}
template <>
std::span<const Spelling<Remedy>> spellings() {
  return kRemedies;
}
template <>
std::span<const Spelling<ChangedPart>> spellings() {
  return kParts;
}
template <>
std::span<const Spelling<WaitedFor>> spellings() {
  return kWaited;
}
template <>
std::span<const Spelling<LockObstacle>> spellings() {
  return kObstacles;
}
template <>
std::span<const Spelling<WasteKind>> spellings() {
  return kWaste;
}
template <>
std::span<const Spelling<SiteFate>> spellings() {
  return kSites;
}
template <>
std::span<const Spelling<PageFate>> spellings() {
  return kPages;
}
template <>
std::span<const Spelling<WhyShared>> spellings() {
  return kReasons;
}
template <>
std::span<const Spelling<WhyShared>> former_spellings() {
  return kFormerReasons;
}
template <>
std::span<const Spelling<NoteKind>> spellings() {
  return kNotes;
}
template <>
std::span<const Spelling<Guarantee>> spellings() {
  return kGuarantees;
}

}  // namespace prof
