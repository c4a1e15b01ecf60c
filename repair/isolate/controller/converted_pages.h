#pragma once
// Manages the private pages of converted threads, as hooks of the session. The threads take the pages of the
// list when they begin, follow its changes, commit around system calls and on request, and give the pages up
// before they come home.

#include <atomic>

#include "repair/isolate/controller/isolated_pages.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// The controller's list.
extern constinit IsolatedPages isolated_pages;

// True while the program was found to synchronise in ways that cannot be intercepted: no converted thread
// takes a page.
extern constinit std::atomic<bool> nobody_has_pages;

// From now on `changed` is called for the lines that converted threads change on pages of the list
// (private_pages.h), and the list records which threads did. Must be called before there are converted
// threads.
void watch_changes(ChangedLine changed) noexcept;

// Returns all hooks except those for the session as a whole.
ConversionHooks converted_page_hooks() noexcept;

// Called at the end of the region in which a handler set asked_in_region (own_pages.h). Does what the handler
// left undone.
void ask_again() noexcept;

// Returns the pages of a thread by its record. Their counts stay when the thread ends.
const PrivatePages& pages_of(const ThreadRecord& record) noexcept;

inline size_t place_of(const ThreadRecord& record) noexcept {
  return static_cast<size_t>(&record - first_record());
}

// Calls use(const PrivatePages&) for the pages of every thread that has existed.
template <typename Use>
void for_each_pages(Use use) noexcept {
  for (size_t i = 0; i < records_used(); ++i) use(pages_of(first_record()[i]));
}

}  // namespace hpcrun
