# cmake -DOUT=FILE -DSOURCE=DIR ... -P build_info.cmake: writes what `prof version` says of this build, and touches the
# file only when that changed.
execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit "unknown")
endif()
string(REPLACE "|" ";" PARTS "${PARTS}")
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[#pragma once
namespace prof {
constexpr const char* kCommit = "@commit@";
constexpr const char* kBuildType = "@BUILD_TYPE@";
constexpr const char* kOptionalParts = "@PARTS@";
}  // namespace prof
]])
