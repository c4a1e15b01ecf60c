// Functions that annotated code calls around atomic operations (repair/isolate/pass/regions.h), in threads
// that have private pages, or had some when the call began. region_calls.S calls these functions.

#include "repair/isolate/pass/regions.h"

#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/preload/committing.h"

using namespace hpcrun;

namespace {

PrivatePages::Commit commit_where(unsigned flags, unsigned flag) noexcept {
  return flags & flag ? PrivatePages::Commit::Yes : PrivatePages::Commit::No;
}

}  // namespace

extern "C" {

void* hpcrun_atomic_begin(void* address, size_t bytes, unsigned flags) noexcept {
  PrivatePages* const pages = own_pages;
  if (!pages || !pages->count()) return address;
  // Nothing to commit or fetch: the end finds no view.
  if (!flags && !pages->reaches(reinterpret_cast<uint64_t>(address), bytes)) return address;
  return reinterpret_cast<void*>(
      pages->open_view(reinterpret_cast<uint64_t>(address), bytes, commit_where(flags, kProfCommitBefore)));
}

void hpcrun_atomic_end(void* address, size_t bytes, unsigned flags) noexcept {
  if (PrivatePages* const pages = own_pages)
    pages->close_view(reinterpret_cast<uint64_t>(address), bytes, commit_where(flags, kProfCommitAfter));
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

// In nested regions, as in a handler that interrupted one, the outermost counts.
void hpcrun_region_begin() noexcept {
  if (own_pages) own_pages->set_aside();
}
void hpcrun_region_end() noexcept {
  if (own_pages && open_regions == 1) own_pages->take_back();
}
}
