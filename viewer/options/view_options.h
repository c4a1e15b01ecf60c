#pragma once
// The command line of `prof view`: declared once, for `prof`, which says what is wrong with it and starts
// prof-viewer, and for that.

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
  std::string compare;   // another database, the run after; empty: none
  bool same_total = false;
  std::string view;        // the page in front, one of kPages
  std::string screenshot;  // a file, .png or .svg; empty: a window
  std::string table;       // a file for the page's table as CSV; empty: none
  std::string size = "1280x800";
  std::string theme;                 // "light" or "dark"; empty: the one of last time
  std::string function;              // that the page shows first, where it shows one; empty: none
  std::string metric;                // its name; empty: the first one
  std::string time;                  // "a..b", seconds from the run's begin; empty: all of it
  int depth = -1;                    // of call paths in the timeline, 0 where stacks begin; -1: innermost
  std::vector<std::string> threads;  // as `prof report --thread` takes them
};

// True where a file is written instead of a window being opened.
inline bool writes_file(const ViewOptions& options) {
  return !options.screenshot.empty() || !options.table.empty();
}

struct Size {
  int width, height;
};

// Of the pages that there are, in the order of the window's tabs.
extern const std::vector<std::string> kPages;

// That is in front: of two runs what differs, where nothing else is asked for.
std::string first_page(const ViewOptions& options);

// Declares the positional DATABASE and all options. CLI11 says what cannot be.
void add_view_options(CLI::App& command, ViewOptions& options);

// "1600x900"; nothing where it is no size of a window.
std::optional<Size> size_of(const std::string& text);

struct Seconds {
  double begin, end;
};

// "1.5..2": from the run's begin. Nothing where it is no such range, or an empty one.
std::optional<Seconds> time_of(const std::string& text);

// The arguments that add_view_options() parses into these options again.
std::vector<std::string> arguments_of(const ViewOptions& options);

}  // namespace prof::viewer
