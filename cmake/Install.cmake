# Install.cmake: bin/sluice, the libraries, headers, graphs, the CMake package and the pkg-config file. Everything is
# found relative to where it lies, so an installation can be moved. Plugins install themselves in sluice_add_plugin.
include(CMakePackageConfigHelpers)

set(SLUICE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
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
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS sluice_testing_shared EXPORT SluiceTargets)

install(DIRECTORY runtime/include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(GLOB plugin_includes CONFIGURE_DEPENDS plugins/*/include/*)
install(DIRECTORY ${plugin_includes} DESTINATION ${SLUICE_PLUGIN_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "nominal.*"
        PATTERN "*.calibration")
install(DIRECTORY graphs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/graphs FILES_MATCHING PATTERN "*.yaml")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${SLUICE_CMAKE_DIR}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake
              cmake/SluicePlugin.cmake DESTINATION ${SLUICE_CMAKE_DIR})
install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${SLUICE_CMAKE_DIR})

file(RELATIVE_PATH SLUICE_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" SLUICE_PREFIX_FROM_PC "${SLUICE_PREFIX_FROM_PC}")
configure_file(cmake/sluice.pc.in ${PROJECT_BINARY_DIR}/sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
