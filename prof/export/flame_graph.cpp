#include "prof/export/flame_graph.h"

// Where flame_graph.S has put the file.
extern "C" const char prof_flame_graph_begin[], prof_flame_graph_end[];

namespace prof {

std::string_view flame_graph_page() {
  return {prof_flame_graph_begin, static_cast<size_t>(prof_flame_graph_end - prof_flame_graph_begin)};
}

}  // namespace prof
