sluice_add_plugin(toy SOURCES toy/plugin.c toy/kernels.cu
                  HOST_SOURCES toy/host.c TEST_ONLY
                  INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/toy)
sluice_add_test(execute_test execute_test.c)
target_compile_definitions(execute_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins")
target_include_directories(execute_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/toy)
add_dependencies(execute_test toy.cpu)
