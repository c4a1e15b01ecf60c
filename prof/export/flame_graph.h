#pragma once
#include <string_view>

namespace prof {

// Returns flame_graph.html, which the build embeds in the command. A title replaces @TITLE@, the profile
// replaces @DATA@.
std::string_view flame_graph_page();

}  // namespace prof
