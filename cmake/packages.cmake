# Required libraries; tools/setup installs each of them by its Debian name.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)  # its headers alone: no shared library more
find_package(SQLite3 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
# Its headers alone: it is loaded when it is needed.
find_path(PROF_PFM_HEADERS perfmon/pfmlib_perf_event.h REQUIRED)
set(PROF_ZYDIS ${CMAKE_SOURCE_DIR}/build/zydis)  # sources, which the runtime contains
if(NOT EXISTS ${PROF_ZYDIS}/version)
  message(FATAL_ERROR "Zydis is missing: run tools/zydis, which fetches it")
endif()
