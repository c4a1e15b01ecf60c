#pragma once
// What converted threads do about their private pages, as hooks of the session: they take those of the list
// as they begin, follow it, commit around system calls and when they are asked, and leave them as they go
// home.

#include <atomic>

#include "repair/isolate/controller/isolated_pages.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// The controller's list.
extern constinit IsolatedPages isolated_pages;

// Set while the program turned out to synchronise in ways that nobody sees: no converted thread takes a page.
extern constinit std::atomic<bool> nobody_has_pages;

// From now on `changed` is told of the lines that converted threads change on pages of the list
// (private_pages.h), and the list of who did. Before there are converted threads.
void watch_changes(ChangedLine changed) noexcept;

// All but those of the whole session.
ConversionHooks converted_page_hooks() noexcept;

// At the end of the region in which a handler set asked_in_region (own_pages.h): what it left undone is done.
void ask_again() noexcept;

// A thread's own, by its record. What they count stays when the thread ends.
const PrivatePages& pages_of(const ThreadRecord& record) noexcept;

inline size_t place_of(const ThreadRecord& record) noexcept {
  return static_cast<size_t>(&record - first_record());
}

// use(const PrivatePages&) for those of every thread that there was.
template <typename Use>
void for_each_pages(Use use) noexcept {
  for (size_t i = 0; i < records_used(); ++i) use(pages_of(first_record()[i]));
}

}  // namespace hpcrun
