# Run by CPack on the staged files before it packs them: adds the licence statement and the changelog of each Debian
# package and compresses its man pages.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of that moment
else()
  set(date "Thu, 01 Jan 2026 00:00:00 +0000")  # packages of one source are alike whenever they are made
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share)
  set(documents ${root}/doc/${package})
  configure_file(${CPACK_PROF_DEBIAN_FOLDER}/changelog.in ${documents}/changelog @ONLY)
  configure_file(${CPACK_PROF_DEBIAN_FOLDER}/copyright ${documents}/copyright COPYONLY)
  # CPack takes our private folder of libraries for one that the loader searches.
  configure_file(${CPACK_PROF_DEBIAN_FOLDER}/lintian-overrides.in ${root}/lintian/overrides/${package} @ONLY)
  file(REMOVE ${documents}/LICENSE)  # /usr/share/common-licenses has it, copyright says so

  file(GLOB manuals ${root}/man/man*/*.[0-9])
  execute_process(COMMAND gzip -9n ${documents}/changelog ${manuals} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
