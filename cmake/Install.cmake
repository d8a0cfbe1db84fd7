# Install.cmake: bin/sluice, the libraries, headers, graphs, the CMake package and the pkg-config file. All paths are
# relative, so an installation can be moved. Plugins are installed by sluice_add_plugin.
#
# Components: `sluice`; `emulator` (plugins for simt and race); `doc`; `links` (symbolic links, which wheels cannot have).
# `cmake --install` and the Debian package have all of them. A wheel, for which scikit-build-core sets SKBUILD, has `sluice`.
include(CMakePackageConfigHelpers)

set(SLUICE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
set(SLUICE_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc/sluice)
set(SLUICE_PLUGIN_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/sluice-plugins)

# Other plugins' event models are included as <velo/event_model.h>, as in the source tree.
target_include_directories(sluice_headers INTERFACE $<INSTALL_INTERFACE:${SLUICE_PLUGIN_INCLUDEDIR}>)
set_target_properties(sluice_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS sluice_headers EXPORT SluiceTargets)

# sluice/testing.h for plugins outside: a library that needs none of ours, nor their development packages.
get_target_property(testing_sources sluice_testing SOURCES)
list(TRANSFORM testing_sources PREPEND runtime/testing/)
add_library(sluice_testing_shared SHARED ${testing_sources})
target_link_libraries(sluice_testing_shared PUBLIC sluice_headers PRIVATE sluice_core)
set_target_properties(sluice_testing_shared PROPERTIES OUTPUT_NAME sluice_testing EXPORT_NAME testing
                      SOVERSION ${PROJECT_VERSION_MAJOR})
if(NOT SKBUILD)
  set_target_properties(sluice_testing_shared PROPERTIES VERSION ${PROJECT_VERSION})
endif()
install(TARGETS sluice_testing_shared EXPORT SluiceTargets LIBRARY NAMELINK_COMPONENT links)

install(DIRECTORY runtime/include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(GLOB plugin_includes CONFIGURE_DEPENDS plugins/*/include/*)
install(DIRECTORY ${plugin_includes} DESTINATION ${SLUICE_PLUGIN_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "nominal.*"
        PATTERN "*.calibration")
install(DIRECTORY graphs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/graphs FILES_MATCHING PATTERN "*.yaml")

# Pages and examples are installed in the layout of the source tree, so that their links are valid; files that are
# installed elsewhere are linked.
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md Dockerfile DESTINATION ${SLUICE_DOC_DIR} COMPONENT doc)
install(DIRECTORY docs examples DESTINATION ${SLUICE_DOC_DIR} COMPONENT doc PATTERN build EXCLUDE)
install(DIRECTORY python/examples DESTINATION ${SLUICE_DOC_DIR}/python COMPONENT doc PATTERN .* EXCLUDE)
file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} plugins/*/*.md)
foreach(page ${pages})
  get_filename_component(folder ${page} DIRECTORY)
  install(FILES ${page} DESTINATION ${SLUICE_DOC_DIR}/${folder} COMPONENT doc)
endforeach()
install(FILES runtime/simt/race.h DESTINATION ${SLUICE_DOC_DIR}/runtime/simt COMPONENT doc)
install(FILES packaging/sluice@.service packaging/grafana-dashboard.json DESTINATION ${SLUICE_DOC_DIR}/packaging COMPONENT doc)
install(FILES tests/cli/transcript.py DESTINATION ${SLUICE_DOC_DIR}/tests/cli COMPONENT doc)
set(doc_links ${PROJECT_BINARY_DIR}/doc_links)
foreach(link graphs=${CMAKE_INSTALL_FULL_DATADIR}/sluice/graphs
             runtime/include/sluice=${CMAKE_INSTALL_FULL_INCLUDEDIR}/sluice
             plugins/selections/include/selections=${CMAKE_INSTALL_FULL_INCLUDEDIR}/sluice-plugins/selections)
  string(REPLACE "=" ";" link ${link})
  list(GET link 0 name)
  list(GET link 1 place)
  get_filename_component(folder ${name} DIRECTORY)
  file(RELATIVE_PATH target ${CMAKE_INSTALL_FULL_DATADIR}/doc/sluice/${folder} ${place})
  file(MAKE_DIRECTORY ${doc_links}/${folder})
  file(CREATE_LINK ${target} ${doc_links}/${name} SYMBOLIC)
endforeach()
install(DIRECTORY ${doc_links}/ DESTINATION ${SLUICE_DOC_DIR} COMPONENT doc)

configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${SLUICE_CMAKE_DIR}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake
              cmake/SluicePlugin.cmake DESTINATION ${SLUICE_CMAKE_DIR})
install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${SLUICE_CMAKE_DIR})

# In a wheel the CMake package is below site-packages; find_package() looks for it in the environment's lib/cmake.
if(SKBUILD)
  foreach(file SluiceConfig SluiceConfigVersion)
    file(WRITE ${PROJECT_BINARY_DIR}/environment/${file}.cmake "file(GLOB sluice_file
     \${CMAKE_CURRENT_LIST_DIR}/../../python3*/*-packages/sluice/prefix/${SLUICE_CMAKE_DIR}/${file}.cmake)
include(\${sluice_file})\n")
  endforeach()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/environment/ DESTINATION ${SKBUILD_DATA_DIR}/lib/cmake/Sluice)
endif()

file(RELATIVE_PATH SLUICE_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" SLUICE_PREFIX_FROM_PC "${SLUICE_PREFIX_FROM_PC}")
configure_file(cmake/sluice.pc.in ${PROJECT_BINARY_DIR}/sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `cpack` in the build folder makes a Debian package; DebianFiles.cmake adapts the installed files to Debian's policy.
# scripts/check packaging runs lintian on it.
set(SLUICE_PACKAGE_CONTACT "The Sluice developers <sluice@localhost>" CACHE STRING "the maintainer of the Debian package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VENDOR Sluice)
set(CPACK_PACKAGE_CONTACT "${SLUICE_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "A runtime, its command, and the plugins and graphs of LHCb's
first-level trigger.")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, ninja-build, gcc, libcmocka-dev, graphviz, libmicrohttpd12, libzmq5")
# Dependencies, computed from the libraries; libraries of Sluice are in the package. Empty without the tools.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(FILE_COMMAND file)
mark_as_advanced(DPKG_SHLIBDEPS FILE_COMMAND)
if(DPKG_SHLIBDEPS AND FILE_COMMAND)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/DebianFiles.cmake)
set(CPACK_SLUICE_DEBIAN ${PROJECT_SOURCE_DIR}/cmake/debian)
set(CPACK_SLUICE_STRIP ${CMAKE_STRIP})
configure_file(cmake/debian/shlibs.in ${PROJECT_BINARY_DIR}/debian/shlibs @ONLY)
configure_file(cmake/debian/triggers ${PROJECT_BINARY_DIR}/debian/triggers COPYONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
