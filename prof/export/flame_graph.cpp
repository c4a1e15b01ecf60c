#include "prof/export/flame_graph.h"

// The file's contents, embedded by flame_graph.S.
extern "C" const char prof_flame_graph_begin[], prof_flame_graph_end[];

namespace prof {

std::string_view flame_graph_page() {
  return {prof_flame_graph_begin, static_cast<size_t>(prof_flame_graph_end - prof_flame_graph_begin)};
}

}  // namespace prof
