// Replaces the commits of private pages (--wrap). Converted threads exchange their stores only when a page is
// made common again.

#include "repair/isolate/pages/private_pages.h"

// PrivatePages::commit_pages()
#define COMMIT_PAGES __wrap__ZN6hpcrun12PrivatePages12commit_pagesENS_6StoresE

extern "C" void COMMIT_PAGES(hpcrun::PrivatePages*, hpcrun::Stores) noexcept;
void COMMIT_PAGES(hpcrun::PrivatePages*, hpcrun::Stores) noexcept {}
