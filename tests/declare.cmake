# declare.cmake: functions that declare tests.
#
# Labels select the tests that scripts/test runs. In each kind of build a test has the label `push` if scripts/test runs it,
# `nightly` if only scripts/test --full runs it, and neither if it is not run. Kinds of builds:
#   release  gcc or another compiler, optimized        asan   clang, AddressSanitizer and UndefinedBehaviorSanitizer
#   debug    gcc, -O0                                   tsan   gcc, ThreadSanitizer
#   clang    clang, optimized                           arm64  gcc, optimized, for ARM64 under qemu-aarch64
# PUSH kind...     kinds in which the test is `push`. Default: release and asan for programs, release for scripts.
# NIGHTLY kind...  kinds in which the test is `nightly`. In release and asan every test is at least `nightly`, in clang every
#                  program. In arm64, programs with KERNELS are `nightly`; scripts that are not named so are not declared:
#                  they measure, preload libraries, or load the library into Python, which is a program of another
#                  processor. Nor are they in clang: what they test does not depend on the compiler.
# LABELS label...  PLUGIN or PLUGIN.ALGORITHM, the names that scripts/test accepts, and others.
#
# scripts/test configures with -D SLUICE_TEST_LEVEL=push, or =nightly for --full: `all` then contains only programs that
# these tests need. At the level push, scripts of builds other than release, and those declared as BRIEF, see
# SLUICE_TEST_BRIEF (tests/graphs/common.py); in arm64, all scripts do, at all levels.
set(SLUICE_TEST_LEVEL all CACHE STRING "build the programs of these tests: push, nightly (includes push) or all")

if(SLUICE_BUILD_KIND) # for scripts/coverage.py
elseif(SLUICE_SANITIZE)
  set(SLUICE_BUILD_KIND asan)
elseif(SLUICE_SANITIZE_THREADS)
  set(SLUICE_BUILD_KIND tsan)
elseif(CMAKE_CROSSCOMPILING)
  set(SLUICE_BUILD_KIND arm64)
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(SLUICE_BUILD_KIND debug)
elseif(CMAKE_C_COMPILER_ID MATCHES "Clang")
  set(SLUICE_BUILD_KIND clang)
else()
  set(SLUICE_BUILD_KIND release)
endif()
set(sluice_slowness 1) # factor of time limits
if(SLUICE_BUILD_KIND STREQUAL "arm64")
  set(sluice_slowness 3)
endif()
find_package(Python3 COMPONENTS Interpreter)
# Debian's Python, because another Python on the PATH does not find Debian's packages.
find_program(SLUICE_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
file(GLOB sluice_event_models ${PROJECT_SOURCE_DIR}/plugins/*/include)

add_custom_target(test_programs) # programs of the selected level
# Target of scripts/test PLUGIN: test programs with the label PLUGIN.
file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*)
foreach(folder ${folders})
  get_filename_component(plugin ${folder} NAME)
  if(TARGET ${plugin}.cpu)
    add_custom_target(tests.${plugin})
  endif()
endforeach()
get_filename_component(sluice_shared_data ${PROJECT_SOURCE_DIR}/../shared/data ABSOLUTE)

# sluice_label_test(TEST [PUSH kind...] [NIGHTLY kind...] [LABELS label...] [PROGRAMS target...]): sets the labels of a test
# of add_test; its programs are built where it runs. The functions below call it.
function(sluice_label_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUSH;NIGHTLY;LABELS;PROGRAMS")
  set(level)
  if(SLUICE_BUILD_KIND IN_LIST arg_PUSH)
    set(level push)
  elseif(SLUICE_BUILD_KIND MATCHES "^(release|asan|clang)$" OR SLUICE_BUILD_KIND IN_LIST arg_NIGHTLY)
    set(level nightly)
  endif()
  set_property(TEST ${test} APPEND PROPERTY LABELS ${level} ${arg_LABELS})
  foreach(program ${arg_PROGRAMS})
    get_target_property(is_built ${program} sluice_is_built)
    if(SLUICE_TEST_LEVEL STREQUAL "all" OR level STREQUAL "push" OR (level AND SLUICE_TEST_LEVEL STREQUAL "nightly"))
      set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL OFF sluice_is_built ON)
      add_dependencies(test_programs ${program})
    elseif(NOT is_built)
      set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    foreach(label ${arg_LABELS})
      if(TARGET tests.${label})
        add_dependencies(tests.${label} ${program})
      endif()
    endforeach()
  endforeach()
endfunction()

# sluice_add_test(NAME file... [PUSH kind...] [NIGHTLY kind...] [LABELS label...]): a cmocka program on the parts of the
# runtime, and the test that runs it.
function(sluice_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUSH;NIGHTLY;LABELS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE sluice_core scratch PkgConfig::CMOCKA)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests ENABLE_EXPORTS ON)
  sluice_run_test(${name} ${name} PUSH ${arg_PUSH} NIGHTLY ${arg_NIGHTLY} LABELS ${arg_LABELS})
endfunction()

# sluice_run_test(TEST PROGRAM [ENVIRONMENT NAME=value...] [PUSH kind...] [NIGHTLY kind...] [LABELS label...]): a test that
# runs a program of sluice_add_test.
function(sluice_run_test test program)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "PUSH;NIGHTLY;LABELS;ENVIRONMENT")
  if(NOT arg_PUSH)
    set(arg_PUSH release asan)
  endif()
  if(SLUICE_BUILD_KIND STREQUAL "tsan")
    add_test(NAME ${test} COMMAND ${PROJECT_SOURCE_DIR}/tests/again_tsan.sh $<TARGET_FILE:${program}>)
  else()
    add_test(NAME ${test} COMMAND ${program})
  endif()
  math(EXPR timeout "300 * ${sluice_slowness}")
  set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout} ENVIRONMENT "${arg_ENVIRONMENT}")
  sluice_label_test(${test} PROGRAMS ${program} PUSH ${arg_PUSH} NIGHTLY ${arg_NIGHTLY} LABELS ${arg_LABELS})
endfunction()

# sluice_test_on_devices(NAME PLUGIN [LABELS label...]): runs the program NAME again, with the kernels of PLUGIN on the
# emulator (three seeds, warps of 32 and 64 threads; in arm64 one of the six settings is `nightly`), and on a GPU, where it
# is skipped without one.
function(sluice_test_on_devices name plugin)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS")
  if(TARGET ${plugin}.simt)
    add_dependencies(${name} ${plugin}.simt)
    foreach(seed 1 2 3)
      foreach(warp 32 64)
        set(push none) # `sluice test` of each plugin has all six settings
        set(nightly)
        if("${seed}_${warp}" STREQUAL "1_32")
          set(push release)
          set(nightly arm64)
        endif()
        sluice_run_test(${name}_simt_${seed}_${warp} ${name} PUSH ${push} NIGHTLY ${nightly} LABELS simt ${arg_LABELS} ENVIRONMENT
          SLUICE_TEST_TARGET=simt SLUICE_TEST_SIMT_SEED=${seed} SLUICE_TEST_SIMT_WARP=${warp})
      endforeach()
    endforeach()
  endif()
  if(TARGET ${plugin}.cuda)
    add_dependencies(${name} ${plugin}.cuda sluice_backend_cuda)
    sluice_run_test(${name}_cuda ${name} PUSH release LABELS cuda ${arg_LABELS} ENVIRONMENT SLUICE_TEST_TARGET=cuda)
  endif()
endfunction()

# Include folders, definitions and dependencies of a target of sluice_add_plugin_test, for PLUGIN and OTHERS.
function(sluice_see_plugin target plugin)
  target_include_directories(${target} PRIVATE ${sluice_event_models})
  target_compile_definitions(${target} PRIVATE SLUICE_DATA_DEFAULT="${sluice_shared_data}")
  target_compile_options(${target} PRIVATE ${SLUICE_COMPILE_OPTIONS})
  set(nominal ${PROJECT_SOURCE_DIR}/plugins/${plugin}/include/${plugin}/nominal.${plugin})
  if(EXISTS ${nominal})
    target_compile_definitions(${target} PRIVATE NOMINAL="${nominal}")
  endif()
  foreach(used ${plugin} ${ARGN})
    string(TOUPPER ${used} upper)
    target_compile_definitions(${target} PRIVATE ${upper}_PLUGIN="$<TARGET_FILE:${used}.cpu>")
    add_dependencies(${target} ${used}.cpu)
  endforeach()
endfunction()

# sluice_add_plugin_test(PLUGIN NAME [MAIN file] [SUPPORT file...] [SOURCES file...] [KERNELS] [ALGORITHMS name...]
#                        [INCLUDES folder...] [LIBRARIES target...] [DEFINITIONS name=value...] [OTHERS plugin...]
#                        [PUSH kind...] [NIGHTLY kind...] [LABELS label...])
#
# The program PLUGIN_NAME_test of NAME_test.c (or MAIN), SUPPORT (compiled once for all tests of the plugin) and SOURCES, which
# runs algorithms of PLUGIN through sluice/testing.h. It sees the event models of all plugins, and as definitions
# PLUGIN_PLUGIN (upper case, the plugin's file; OTHERS too), SLUICE_DATA_DEFAULT, and NOMINAL (the plugin's description of
# the detector), if there is one; DEFINITIONS are not for SUPPORT. KERNELS: it runs again on the emulator and on a GPU.
# Labels: PLUGIN, and PLUGIN.ALGORITHM for each of ALGORITHMS (default: NAME).
function(sluice_add_plugin_test plugin name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "KERNELS" "MAIN"
                        "SUPPORT;SOURCES;ALGORITHMS;INCLUDES;LIBRARIES;DEFINITIONS;OTHERS;PUSH;NIGHTLY;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_add_plugin_test(${plugin} ${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(program ${plugin}_${name}_test)
  if(NOT arg_MAIN)
    set(arg_MAIN ${name}_test.c)
  endif()
  if(NOT arg_ALGORITHMS)
    set(arg_ALGORITHMS ${name})
  endif()
  list(TRANSFORM arg_ALGORITHMS PREPEND ${plugin}. OUTPUT_VARIABLE labels)
  list(PREPEND labels ${plugin} ${arg_LABELS})
  foreach(file ${arg_SUPPORT})
    get_filename_component(stem ${file} NAME_WE)
    set(support ${plugin}_test_${stem})
    if(NOT TARGET ${support})
      add_library(${support} OBJECT EXCLUDE_FROM_ALL ${file})
      sluice_see_plugin(${support} ${plugin} ${arg_OTHERS})
      target_include_directories(${support} PRIVATE ${arg_INCLUDES})
      target_link_libraries(${support} PRIVATE sluice_core scratch sluice_testing plugin_test_support Sluice::geometry PkgConfig::CMOCKA
                            ${arg_LIBRARIES})
    endif()
    list(APPEND arg_SOURCES $<TARGET_OBJECTS:${support}>)
  endforeach()
  if(arg_KERNELS)
    list(APPEND arg_NIGHTLY arm64)
  endif()
  sluice_add_test(${program} ${arg_MAIN} ${arg_SOURCES} PUSH ${arg_PUSH} NIGHTLY ${arg_NIGHTLY} LABELS ${labels})
  sluice_see_plugin(${program} ${plugin} ${arg_OTHERS})
  target_include_directories(${program} PRIVATE ${arg_INCLUDES})
  target_compile_definitions(${program} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${program} PRIVATE sluice_testing plugin_test_support Sluice::geometry m ${arg_LIBRARIES})
  if(arg_KERNELS)
    sluice_test_on_devices(${program} ${plugin} LABELS ${labels})
  endif()
endfunction()

# sluice_add_script_test(NAME SCRIPT [ARGUMENTS argument...] [PYTHON program] [ENVIRONMENT NAME=value...] [TIMEOUT seconds]
#                        [PROCESSORS n] [PROGRAMS target...] [UNSANITIZED] [BRIEF] [PUSH kind...] [NIGHTLY kind...] [LABELS label...])
#
# A test in Python. Its environment has the paths of sources, command, folders and libraries of this build
# (tests/graphs/common.py, algorithm.py); in arm64, the command is a script that calls the emulator. UNSANITIZED: not run
# with sanitizers, because their library must be loaded first.
function(sluice_add_script_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "UNSANITIZED;BRIEF" "PYTHON;TIMEOUT;PROCESSORS"
                        "ARGUMENTS;ENVIRONMENT;PROGRAMS;PUSH;NIGHTLY;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_add_script_test(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_PYTHON)
    set(arg_PYTHON ${Python3_EXECUTABLE})
  endif()
  if(NOT arg_PYTHON OR (arg_UNSANITIZED AND SLUICE_BUILD_KIND MATCHES "^[at]san$"))
    return()
  elseif(SLUICE_BUILD_KIND MATCHES "^(arm64|clang)$" AND NOT (arm64 IN_LIST arg_NIGHTLY AND SLUICE_CALLABLE_COMMAND))
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  math(EXPR arg_TIMEOUT "${sluice_slowness} * ${arg_TIMEOUT}")
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  if(NOT arg_PUSH)
    set(arg_PUSH release)
  endif()
  get_filename_component(script ${script} ABSOLUTE)
  set(environment
      SLUICE_ROOT=${PROJECT_SOURCE_DIR} SLUICE_COMMAND=${SLUICE_CALLABLE_COMMAND}
      SLUICE_TESTING=$<TARGET_FILE:sluice_testing_shared> SLUICE_TEST_PLUGINS=${PROJECT_BINARY_DIR}/tests/plugins
      SLUICE_SIMT=$<BOOL:${SLUICE_SIMT}> SLUICE_RACE=$<TARGET_EXISTS:sluice_backend_race> PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/graphs ${arg_ENVIRONMENT})
  if(SLUICE_BUILD_KIND STREQUAL "arm64" OR
     (SLUICE_TEST_LEVEL STREQUAL "push" AND (arg_BRIEF OR NOT SLUICE_BUILD_KIND STREQUAL "release")))
    list(APPEND environment SLUICE_TEST_BRIEF=1)
  endif()
  add_test(NAME ${name} COMMAND ${arg_PYTHON} ${script} ${arg_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS} ENVIRONMENT
    "${environment}")
  sluice_label_test(${name} PROGRAMS ${arg_PROGRAMS} PUSH ${arg_PUSH} NIGHTLY ${arg_NIGHTLY} LABELS ${arg_LABELS})
endfunction()
