// What annotated code calls where it works atomically (repair/isolate/pass/regions.h). Callers keep their
// registers: region_calls.S stands before these functions.

#include "repair/isolate/pass/regions.h"

#include "repair/isolate/own_pages.h"
#include "repair/isolate/preload/committing.h"

namespace hpcrun {

namespace {

// Before it is known what the thread has: a handler that comes later must find the region.
void open_region() noexcept {
  open_regions = open_regions + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void close_region() noexcept {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  open_regions = open_regions - 1;
}

PrivatePages::Commit commit_where(unsigned flags, unsigned flag) noexcept {
  return flags & flag ? PrivatePages::Commit::Yes : PrivatePages::Commit::No;
}

}  // namespace

}  // namespace hpcrun

using namespace hpcrun;

extern "C" {

void* hpcrun_atomic_begin(void* address, size_t bytes, unsigned flags) noexcept {
  open_region();
  PrivatePages* const pages = own_pages;
  if (!pages || !pages->count()) [[likely]]
    return address;
  return reinterpret_cast<void*>(
      pages->open_view(reinterpret_cast<uint64_t>(address), bytes, commit_where(flags, kProfCommitBefore)));
}

void hpcrun_atomic_end(void* address, size_t bytes, unsigned flags) noexcept {
  if (PrivatePages* const pages = own_pages) [[unlikely]]
    pages->close_view(reinterpret_cast<uint64_t>(address), bytes, commit_where(flags, kProfCommitAfter));
  close_region();
}

void hpcrun_commit() noexcept {
  commit_own_pages();
}

void hpcrun_share(void* address, size_t bytes) noexcept {
  PrivatePages* const pages = own_pages;
  if (!pages) return;
  pages->commit();
  if (!address) return pages->share_all();
  keep_common(address);
  if (bytes > 0) keep_common(static_cast<char*>(address) + bytes - 1);
}

// Where regions lie within each other, as those of a handler that interrupted one do, the outermost counts.
void hpcrun_region_begin() noexcept {
  open_region();
  if (!own_pages) [[likely]]
    return;
  own_pages->set_aside();
}

void hpcrun_region_end() noexcept {
  if (own_pages && open_regions == 1) [[unlikely]]
    own_pages->take_back();
  close_region();
}
}
