# The emulator of a GPU, by kernels that are right and kernels that are not.
if(SLUICE_SIMT)
  sluice_add_plugin(collectives SOURCES collectives/plugin.c collectives/collectives.cu TEST_ONLY
                    INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/collectives)
  sluice_add_plugin(simt_bad SOURCES simt_bad/plugin.c simt_bad/faulty.cu TEST_ONLY
                    INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/simt_bad)
  sluice_add_test(simt_test simt_test.c)
  target_include_directories(simt_test PRIVATE collectives simt_bad)
  target_compile_definitions(simt_test PRIVATE TEST_PLUGINS="${CMAKE_BINARY_DIR}/tests/plugins")
  add_dependencies(simt_test collectives.cpu collectives.simt simt_bad.cpu simt_bad.simt)
endif()
