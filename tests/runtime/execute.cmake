# The executor, on the toy plugin: on the cpu, on the emulator, on a mock device, and on a GPU where there is one.
sluice_add_plugin(toy SOURCES toy/plugin.c toy/kernels.cu toy/choices.cu toy/lists.cu toy/places.cu HOST_SOURCES toy/host.c toy/lists.c
                  TEST_ONLY
                  INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/toy)

# The mock device has the kernels of cpu; only launches differ.
sluice_wrap_sources(mock_sources mock c toy/plugin.c toy/kernels.cu toy/choices.cu toy/lists.cu toy/places.cu toy/host.c toy/lists.c)
add_library(toy.mock MODULE ${mock_sources})
target_include_directories(toy.mock PRIVATE toy)
sluice_make_mock_plugin(toy.mock)
add_library(mock_backend MODULE toy/mock_backend.c toy/mock_queue.c)
target_include_directories(mock_backend PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(mock_backend PRIVATE sluice_core)
set_target_properties(mock_backend PROPERTIES PREFIX "" OUTPUT_NAME mock
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/backends) # searched for backends

set(devices mock)
set(parts toy.cpu toy.mock mock_backend)
if(SLUICE_SIMT)
  list(APPEND devices simt)
  list(APPEND parts toy.simt)
endif()
if(CMAKE_CUDA_COMPILER)
  list(APPEND devices cuda)
  list(APPEND parts toy.cuda sluice_backend_cuda)
endif()
foreach(test execute_test execute_limits_test event_errors_test families_test properties_test list_ports_test places_test times_test
               budgets_test replan_test drawings_test keep_test)
  set(levels)
  if(test STREQUAL "execute_test")
    set(levels PUSH release asan tsan NIGHTLY arm64)
  elseif(test MATCHES "^(event_errors|list_ports|keep)_test$")
    set(levels PUSH release asan tsan)
  elseif(test MATCHES "^(replan|drawings)_test$")
    set(levels PUSH release tsan)
  elseif(test MATCHES "^(execute_limits|families)_test$")
    set(levels NIGHTLY tsan)
  endif()
  sluice_add_test(${test} ${test}.c ${levels})
  target_compile_definitions(${test} PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins"
                             MOCK_BACKEND="$<TARGET_FILE:mock_backend>")
  target_include_directories(${test} PRIVATE toy)
  add_dependencies(${test} ${parts})
  foreach(device ${devices})
    if(device STREQUAL "mock")
      sluice_run_test(${test}_mock ${test} ENVIRONMENT SLUICE_TEST_DEVICE=mock ${levels})
    else()
      sluice_run_test(${test}_${device} ${test} ENVIRONMENT SLUICE_TEST_DEVICE=${device} PUSH release)
    endif()
  endforeach()
endforeach()

sluice_add_test(parts_test parts_test.c)
target_compile_definitions(parts_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins")
target_include_directories(parts_test PRIVATE toy)
add_dependencies(parts_test toy.cpu)

sluice_add_test(histograms_test histograms_test.c)
target_compile_definitions(histograms_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins"
                           PLUGINS_FOLDER="${CMAKE_BINARY_DIR}/plugins")
target_include_directories(histograms_test PRIVATE toy)
add_dependencies(histograms_test toy.cpu output.cpu)

sluice_add_test(clears_test clears_test.c)
target_compile_definitions(clears_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins")
target_include_directories(clears_test PRIVATE toy)
add_dependencies(clears_test ${parts})

sluice_add_test(branches_test branches_test.c)
target_compile_definitions(branches_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins")
target_include_directories(branches_test PRIVATE toy)
add_dependencies(branches_test ${parts})
if(CMAKE_CUDA_COMPILER)
  sluice_run_test(branches_test_cuda branches_test ENVIRONMENT SLUICE_TEST_DEVICE=cuda PUSH release)
endif()

sluice_add_test(fit_test fit_test.c)
target_compile_definitions(fit_test PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins")
target_include_directories(fit_test PRIVATE toy)
add_dependencies(fit_test ${parts})

# On several mock devices.
foreach(test devices_test lost_devices_test)
  sluice_add_test(${test} ${test}.c)
  target_compile_definitions(${test} PRIVATE TOY_FOLDER="${CMAKE_BINARY_DIR}/tests/plugins"
                             MOCK_BACKEND="$<TARGET_FILE:mock_backend>")
  target_include_directories(${test} PRIVATE toy)
  add_dependencies(${test} ${parts})
endforeach()
set_tests_properties(lost_devices_test PROPERTIES TIMEOUT 120) # ends a test that hangs
