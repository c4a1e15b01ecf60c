# The code that is a guest in the measured process. It brings no C++ runtime library with it (a
# preloaded libstdc++ would change which one the program gets), throws nothing, and is never
# instrumented by a sanitizer.
add_library(hpcrun_guest_flags INTERFACE)
target_compile_options(hpcrun_guest_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
  -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fasynchronous-unwind-tables
  -fomit-frame-pointer $<$<CONFIG:RelWithDebInfo>:-g>)
target_include_directories(hpcrun_guest_flags INTERFACE ${CMAKE_SOURCE_DIR})

# hpcrun_sample_path: everything that may run inside a signal handler. A test lists its undefined
# symbols. hpcrun_runtime: the rest of the runtime, which runs outside handlers only.
add_library(hpcrun_sample_path STATIC)
target_link_libraries(hpcrun_sample_path INTERFACE gcc)  # __popcountdi2, after it on the command line
add_library(hpcrun_runtime STATIC)
# The guest's flags stay its own: tests that link these libraries use exceptions.
target_link_libraries(hpcrun_sample_path PRIVATE hpcrun_guest_flags)
target_link_libraries(hpcrun_runtime PRIVATE hpcrun_guest_flags PUBLIC hpcrun_sample_path)
target_include_directories(hpcrun_sample_path PUBLIC ${CMAKE_SOURCE_DIR})

function(prof_sample_path_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(hpcrun_sample_path PRIVATE ${ARGN})
endfunction()

function(prof_runtime_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(hpcrun_runtime PRIVATE ${ARGN})
endfunction()

# Headers that are compiled once and taken by many targets, which are compiled with the same options:
# prof_precompile_headers(NAME HEADERS... LINK LIBS... OPTIONS OPTIONS... [FLAGS TARGET]), then prof_take_headers(TARGET NAME).
# Every file names all that it needs nevertheless: the builds for fuzzing and with sanitizers precompile nothing.
function(prof_precompile_headers name)
  cmake_parse_arguments(ARG "" "FLAGS" "HEADERS;LINK;OPTIONS" ${ARGN})
  if(NOT PROF_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT ARG_FLAGS)
    set(ARG_FLAGS prof_host_flags)
  endif()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_FLAGS} ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()
function(prof_take_headers target name)
  if(PROF_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
    # GCC 12 forgets which of them are the system's, and warns of what std::string and std::vector do.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
  endif()
endfunction()

# The guest's headers of the C++ library alone: some of its sources declare functions of the C library in their own way.
prof_precompile_headers(hpcrun_guest_headers FLAGS hpcrun_guest_flags
  HEADERS <algorithm> <array> <atomic> <bit> <cstddef> <cstdint> <cstring> <new> <span> <utility>)
function(prof_take_guest_headers)
  if(PROF_PRECOMPILED_HEADERS)
    foreach(target IN LISTS ARGN)
      target_precompile_headers(${target} REUSE_FROM hpcrun_guest_headers)
    endforeach()
  endif()
endfunction()
prof_take_guest_headers(hpcrun_sample_path hpcrun_runtime)

# Sources are compiled several at a time, so that what they include is instantiated and compiled once for all of them: names in them
# differ also where they are of one file alone. The guest's sources are compiled one by one, wherever they are, and tests of what changes
# the running program.
function(prof_compile_together target)
  if(NOT PROF_UNITY_BUILD OR CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/(hpcrun|tests/heap|tests/contention|tests/repair)")
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "^${CMAKE_SOURCE_DIR}/(hpcrun|repair)/")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# Code outside the measured process: prof_add_library(NAME SOURCES... LINK LIBS... [HEADERS precompiled ones])
add_library(prof_host_flags INTERFACE)
target_include_directories(prof_host_flags INTERFACE ${CMAKE_SOURCE_DIR})
# Whoever takes precompiled headers has the definitions with which they were compiled.
target_compile_definitions(prof_host_flags INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
if(PROF_SANITIZE)
  target_compile_options(prof_host_flags INTERFACE -fsanitize=${PROF_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(prof_host_flags INTERFACE -fsanitize=${PROF_SANITIZE})
endif()

set(PROF_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <filesystem> <fstream>
  <functional> <map> <memory> <mutex> <optional> <ranges> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
prof_precompile_headers(prof_host_headers HEADERS ${PROF_COMMON_HEADERS})

function(prof_add_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC prof_host_flags ${ARG_LINK})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS prof_host_headers)
  endif()
  prof_take_headers(${name} ${ARG_HEADERS})
  prof_compile_together(${name})
endfunction()

# For executables, which are compiled as the libraries are then.
function(prof_take_host_headers target)
  if(PROF_PRECOMPILED_HEADERS)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    prof_take_headers(${target} prof_host_headers)
  endif()
endfunction()

function(prof_add_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE prof_host_flags ${ARG_LINK})
  prof_take_host_headers(${name})
endfunction()

# Tests are compiled more often than they run: so they take two thirds of the time, or half of it where they compute
# nothing themselves (tests/CMakeLists.txt). A folder whose tests look at their own machine code clears them.
set(PROF_TEST_OPTIONS -O1)

# The hundred and more test programs are linked by binutils' gold in half of the time, where it is there.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold PROF_HAVE_GOLD)
if(PROF_HAVE_GOLD AND NOT PROF_SANITIZE)
  set(PROF_TEST_LINKER -fuse-ld=gold)
endif()

# Of the eleven that tools/test gives ctest: three tests that compute, two thirds of the time each, and two that wait.
set(PROF_TEST_SLOTS 3)
set(PROF_PAIRED_SLOTS 5)

# How ctest runs a test: with those that take longest first, of those that compute, or it would begin with all that wait.
function(prof_schedule_test name seconds waits)
  if(waits)
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  else()
    math(EXPR cost "1000 + ${seconds}")
    set_tests_properties(${name} PROPERTIES COST ${cost} PROCESSORS ${PROF_TEST_SLOTS})
  endif()
endfunction()

# A Catch2 test program, run by ctest as NAME: prof_add_test(NAME SOURCES... LINK LIBS... [TIMEOUT s] [SECONDS about what it takes])
function(prof_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;SECONDS" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 0)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE prof_host_flags prof_test_main ${ARG_LINK})
  target_compile_options(test_${name} PRIVATE ${PROF_TEST_OPTIONS})
  target_link_options(test_${name} PRIVATE ${PROF_TEST_LINKER})
  if(PROF_TEST_OPTIONS)
    prof_take_headers(test_${name} prof_test_headers${PROF_TEST_OPTIONS})
    prof_compile_together(test_${name})
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  prof_schedule_test(${name} ${ARG_SECONDS} FALSE)
endfunction()

# A test script run by ctest as NAME. It finds the build in $PROF_BUILD and the sources in $PROF_SOURCE,
# and says that it skips by exit status 77 after printing why. SERIAL: it looks at what threads do at a time, so it runs
# alone. It has the label "chance": its docstring says which probability of a false failure it accepts, and tools/test runs
# it again. PAIRED: the same, but it leaves half of the processors idle, so two of them run at a time, after all others.
# WAITS: it mostly waits, so that others run beside it. SECONDS: about what it takes where that is long. ARGUMENTS: of the
# script, as the names of some of its test cases.
function(prof_add_script_test name script)
  cmake_parse_arguments(ARG "SERIAL;PAIRED;WAITS" "TIMEOUT;SECONDS" "ARGUMENTS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 0)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARG_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "PROF_BUILD=${CMAKE_BINARY_DIR};PROF_SOURCE=${CMAKE_SOURCE_DIR}")
  if(ARG_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE LABELS chance)
  endif()
  prof_schedule_test(${name} ${ARG_SECONDS} ${ARG_WAITS})
  if(ARG_PAIRED)
    math(EXPR cost "${ARG_SECONDS} - 1000")
    set_tests_properties(${name} PROPERTIES LABELS chance COST ${cost} PROCESSORS ${PROF_PAIRED_SLOTS})
  endif()
endfunction()
