# Packages of the distributions, made by CPack from what `cmake --install` installs: tools/package.
set(CPACK_PACKAGE_NAME prof)
set(CPACK_PACKAGE_VENDOR "The prof authors")
set(CPACK_PACKAGE_CONTACT "The prof authors <maintainers@users.noreply.a-seed-6c990ecc.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sampling profiler for programs as they are")
set(PROF_PACKAGE_DESCRIPTION "prof samples full call paths of every thread and child process of a program,
attributes them to functions, source lines and inlined calls, and says where
the time goes. It needs no root, no hardware counters and no change to the
program, and works in virtual machines and containers.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)

# The viewer is a package of its own: who reads reports needs no Qt.
set(CPACK_COMPONENTS_ALL prof)
if(PROF_HAVE_QT)
  list(APPEND CPACK_COMPONENTS_ALL viewer)
endif()
set(viewer_description "prof-viewer shows what prof measured: findings with links to their evidence, call trees,
flame graphs, timelines, and plots over threads. The command prof opens it.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PROF_PACKAGE_NAME prof)
set(CPACK_DEBIAN_VIEWER_PACKAGE_NAME prof-viewer)
set(CPACK_DEBIAN_VIEWER_PACKAGE_DEPENDS "prof (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_VIEWER_DESCRIPTION "${viewer_description}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
set(CPACK_DEBIAN_PROF_PACKAGE_DEPENDS libpfm4)  # loaded when an event is asked for by its name: nothing links it
set(CPACK_DEBIAN_PROF_PACKAGE_RECOMMENDS libjemalloc2)  # which programs allocate by once --repair=isolate has isolated a page
if(PROF_HAVE_LLVM)
  string(APPEND CPACK_DEBIAN_PROF_PACKAGE_RECOMMENDS ", clang-14")  # for `prof cc`
endif()
if(PROF_HAVE_QT)
  string(APPEND CPACK_DEBIAN_PROF_PACKAGE_RECOMMENDS ", prof-viewer")  # for `prof view`
endif()
set(CPACK_DEBIAN_PROF_DESCRIPTION "${PROF_PACKAGE_DESCRIPTION}")  # below the summary
# What Debian wants of every package and an installation elsewhere has no use for.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/add_documents.cmake)
set(CPACK_PROF_DEBIAN_FOLDER ${PROJECT_SOURCE_DIR}/cmake/debian)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT prof)
set(CPACK_RPM_VIEWER_PACKAGE_NAME prof-viewer)
set(CPACK_RPM_VIEWER_PACKAGE_SUMMARY "window on what the profiler prof measured")
set(CPACK_RPM_VIEWER_PACKAGE_DESCRIPTION "${viewer_description}")
set(CPACK_RPM_VIEWER_PACKAGE_REQUIRES "prof = ${PROJECT_VERSION}")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_RECOMMENDS "jemalloc, libpfm")
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
set(CPACK_RPM_PACKAGE_DESCRIPTION "${PROF_PACKAGE_DESCRIPTION}")
# The runtime is nobody's dependency.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __provides_exclude_from ^/usr/${PROF_PRIVATE_LIBDIR}/.*$")

include(CPack)
