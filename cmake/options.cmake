# Optional parts. AUTO uses a part when its packages are found and names it as missing when they are
# not; ON makes a missing package an error; OFF leaves the part out.
foreach(part QT CUDA OPENCL MPI OTF2 LLVM VALGRIND)
  set(PROF_WITH_${part} AUTO CACHE STRING "Build the ${part} part: AUTO, ON or OFF")
  set_property(CACHE PROF_WITH_${part} PROPERTY STRINGS AUTO ON OFF)
endforeach()

set(PROF_SANITIZE "" CACHE STRING "Sanitizers for the code that runs outside the measured process")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # Functions and lines, for stacks: what debuggers show besides takes a quarter of the compiler's time (the debug preset has it).
  add_compile_options(-O2 -g1)
endif()

option(PROF_PRECOMPILED_HEADERS "Compile common headers once: builds take two thirds of the time" ON)
option(PROF_UNITY_BUILD "Compile several sources of a library or a test at a time: builds take two thirds of the time" ON)
if(PROF_SANITIZE)
  set(PROF_PRECOMPILED_HEADERS OFF)
  set(PROF_UNITY_BUILD OFF)
endif()

find_program(PROF_CCACHE ccache)
if(PROF_CCACHE)
  # Files that take precompiled headers are cached only so.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${PROF_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
endif()
