#pragma once
#include <string_view>

namespace prof {

// flame_graph.html, made part of the command by the build. A title goes where @TITLE@ stands, the profile
// where
// @DATA@ does.
std::string_view flame_graph_page();

}  // namespace prof
