#pragma once
// The command line of `prof view`. It is declared once, for `prof`, which reports errors in it and starts
// prof-viewer, and for prof-viewer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace prof::viewer {

struct ViewOptions {
  std::string database;  // empty: the window opens without one
  std::string compare;   // another database, of the run after; empty: none
  bool same_total = false;
  std::string view;        // the page in front, one of kPages
  std::string screenshot;  // a file, .png or .svg; empty: a window
  std::string table;       // a file for the page's table as CSV; empty: none
  std::string size = "1280x800";
  std::string theme;                 // "light" or "dark"; empty: the one of last time
  std::string function;              // the function that the page shows first, if it shows one; empty: none
  std::string metric;                // metric name; empty: the first one
  std::string time;                  // "a..b", seconds from the start of the run; empty: the whole run
  int depth = -1;                    // of call paths in the timeline; 0: outermost, -1: innermost
  std::vector<std::string> threads;  // in the format of `prof report --thread`
};

// True if a file is written instead of opening a window.
inline bool writes_file(const ViewOptions& options) {
  return !options.screenshot.empty() || !options.table.empty();
}

struct Size {
  int width, height;
};

// The names of all pages, in the order of the window's tabs.
extern const std::vector<std::string> kPages;

// Returns the page in front: the diff for two runs, unless another page is requested.
std::string first_page(const ViewOptions& options);

// Declares the positional DATABASE and all options. CLI11 reports invalid values.
void add_view_options(CLI::App& command, ViewOptions& options);

// Parses "1600x900". Returns nothing if it is not a valid window size.
std::optional<Size> size_of(const std::string& text);

struct Seconds {
  double begin, end;
};

// Parses "1.5..2", in seconds from the start of the run. Returns nothing if it is not a range, or is empty.
std::optional<Seconds> time_of(const std::string& text);

// Returns the arguments that add_view_options() parses into these options again.
std::vector<std::string> arguments_of(const ViewOptions& options);

}  // namespace prof::viewer
