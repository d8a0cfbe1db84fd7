# The emulator of a GPU, with correct and faulty kernels.
if(SLUICE_SIMT)
  sluice_add_plugin(collectives SOURCES collectives/plugin.c collectives/collectives.cu collectives/warps.cu TEST_ONLY
                    INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/collectives)
  sluice_add_plugin(simt_bad TARGETS simt SOURCES simt_bad/plugin.c simt_bad/faulty.cu TEST_ONLY
                    INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/simt_bad)
  sluice_add_test(simt_test simt_test.c NIGHTLY arm64)
  target_include_directories(simt_test PRIVATE collectives simt_bad)
  target_compile_definitions(simt_test PRIVATE TEST_PLUGINS="${CMAKE_BINARY_DIR}/tests/plugins")
  add_dependencies(simt_test collectives.cpu collectives.simt simt_bad.cpu simt_bad.simt)

  sluice_add_test(collectives_test collectives_test.c NIGHTLY arm64)
  target_include_directories(collectives_test PRIVATE collectives)
  target_compile_definitions(collectives_test PRIVATE COLLECTIVES_PLUGIN="$<TARGET_FILE:collectives.cpu>")
  target_link_libraries(collectives_test PRIVATE sluice_testing)
  add_dependencies(collectives_test collectives.cpu)
  sluice_test_on_devices(collectives_test collectives)

  sluice_add_plugin(select_items SOURCES select_items/plugin.c select_items/select_items.cu TEST_ONLY
                    INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/select_items)
  sluice_add_test(kernel_select_test kernel_select_test.c NIGHTLY arm64)
  target_include_directories(kernel_select_test PRIVATE select_items)
  target_compile_definitions(kernel_select_test PRIVATE SELECT_PLUGIN="$<TARGET_FILE:select_items.cpu>")
  target_link_libraries(kernel_select_test PRIVATE sluice_testing)
  add_dependencies(kernel_select_test select_items.cpu)
  sluice_test_on_devices(kernel_select_test select_items)

  sluice_add_test(kernel_simt_test kernel_simt_test.c NIGHTLY arm64)
  target_compile_definitions(kernel_simt_test PRIVATE SL_TARGET_SIMT=1 CASES="kernel_test.c" GRID_BLOCKS=1)
  sluice_add_test(kernel_warp_simt_test kernel_simt_test.c NIGHTLY arm64)
  target_compile_definitions(kernel_warp_simt_test PRIVATE SL_TARGET_SIMT=1 CASES="kernel_warp_test.c" GRID_BLOCKS=1)
  sluice_add_test(lanes_simt_test kernel_simt_test.c NIGHTLY arm64)
  target_compile_definitions(lanes_simt_test PRIVATE SL_TARGET_SIMT=1 CASES="lanes_test.c" GRID_BLOCKS=1)
  sluice_add_test(launch_simt_test kernel_simt_test.c NIGHTLY arm64)
  target_compile_definitions(launch_simt_test PRIVATE SL_TARGET_SIMT=1 CASES="launch_test.c" GRID_BLOCKS=8)

  foreach(header kernel lanes fft)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}_simt.c)
    file(WRITE ${source} "#include <sluice/${header}.h>\n#include <sluice/${header}.h>\nint main(void) { return 0; }\n")
    add_test(NAME header_${header}.h_simt COMMAND ${CMAKE_C_COMPILER} -std=c11 -Wall -Wextra -Wshadow -Werror -fsyntax-only
                                                  -DSL_TARGET_SIMT=1 -I${PROJECT_SOURCE_DIR}/runtime/include ${source})
    sluice_label_test(header_${header}.h_simt PUSH release)
  endforeach()
endif()
