# What `cmake --install` puts where, beside the targets, which their own folders install. An installation works from
# any prefix, also after it was moved: prof finds its own files by the place it was started from.

# The runtime is loaded into other programs by its path and linked by none, so it stays out of the folder that the
# linker searches. tools/bundle puts the shared libraries that prof needs there too.
set(PROF_PRIVATE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/prof)

# DT_RPATH and not DT_RUNPATH: it also holds for the libraries that libraries need, and comes before LD_LIBRARY_PATH,
# with which clusters put other versions of them before everything.
function(prof_use_private_libraries target)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH TRUE
    INSTALL_RPATH "$ORIGIN/../${PROF_PRIVATE_LIBDIR}")
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
endfunction()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME prof)  # of all but the viewer
install(FILES README.md CHANGELOG.md LICENSE TYPE DOC)
install(DIRECTORY docs TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
