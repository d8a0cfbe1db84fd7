# sluice_add_plugin(NAME SOURCES file... [HOST_SOURCES file...] [CPU_SOURCES file...] [INCLUDES folder...]
#                   [LIBRARIES target...] [TARGETS target...] [TEST_ONLY])
#
# Builds one shared object per target: NAME.cpu.so; if there are .cu files also NAME.simt.so for the emulator of a GPU,
# NAME.race.so for its --race, and NAME.cuda.so for NVIDIA GPUs if nvcc was found. SOURCES (plugin.c and the .cu files) are
# in each of them. HOST_SOURCES (constants, sources, sinks) and CPU_SOURCES (versions for the CPU) are in NAME.cpu.so only;
# plugin.c lists their algorithms between #ifdef SL_TARGET_CPU and #endif. A .cu file is compiled through a file of one line
# in the build tree that includes it, because CMake's property LANGUAGE belongs to a file, not to a target. TARGETS limits
# the targets other than cpu. A TEST_ONLY plugin is built in tests/plugins and is not installed.
#
# With SLUICE_X86_64_V4, NAME.cpu.so of a plugin with kernels is built a second time for processors with AVX-512, in the
# subfolder x86-64-v4, from which these processors load it (plugin/registry.h).

# Options for identical bits on all targets and compilers; see docs/testing.md, "Determinism".
set(SLUICE_COMPILE_OPTIONS -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(SLUICE_ARCH)
  list(APPEND SLUICE_COMPILE_OPTIONS -march=${SLUICE_ARCH})
endif()

# The emulator has a fiber switch for these processors only.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  option(SLUICE_SIMT "build the emulator of a GPU, and plugins for it" ON)
else()
  option(SLUICE_SIMT "build the emulator of a GPU, and plugins for it" OFF)
endif()

# Kernels for `--device simt --race`: the compiler calls our functions (sluice/simt_race.h) before each access. With few
# optimisations, accesses stay at their place in the source. The sanitizer's library is not linked.
set(SLUICE_RACE_OPTIONS -O1 -g -fsanitize=thread -fno-tree-vectorize
    # clang: address ranges for libdw; instrumentation of reads before a write of the same address. gcc does both by default.
    $<$<C_COMPILER_ID:Clang>:-gdwarf-aranges>
    "$<$<C_COMPILER_ID:Clang>:SHELL:-mllvm -tsan-instrument-read-before-write>")

# nvcc: no contraction; no warning for functions of headers that a kernel does not use.
set(SLUICE_CUDA_OPTIONS -std=c++20 -fmad=false --diag-suppress=177 -Xcompiler=-ffp-contract=off,-fvisibility=hidden,-Wall)

# hipcc, for AMD GPUs. Its code was compiled, but never run.
option(SLUICE_HIP "build for AMD GPUs with hipcc" OFF)
set(SLUICE_HIP_ARCHITECTURES gfx90a gfx1030 CACHE STRING "AMD processors to build for")
option(SLUICE_HIP_KERNELS_ONLY "compile what runs on AMD GPUs, in half the time, and make no plugins of it" OFF)
if(SLUICE_HIP)
  find_program(SLUICE_HIPCC hipcc REQUIRED)
  find_library(SLUICE_HIP_LIBRARY amdhip64 REQUIRED)
endif()

# Compiles .cu files with hipcc: CMake 3.25 has no HIP language for Debian's layout. hipcc is called through the launcher of
# the C compiler, because ccache knows hipcc too.
function(sluice_hip_objects result name)
  cmake_parse_arguments(PARSE_ARGV 2 hip "" "" "SOURCES;INCLUDES;OPTIONS")
  list(TRANSFORM SLUICE_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE architectures)
  list(TRANSFORM hip_INCLUDES PREPEND -I)
  set(objects)
  foreach(source ${hip_SOURCES})
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.hip/${source}.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${path} DEPFILE ${object}.d VERBATIM COMMENT "hipcc ${source}"
      COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${SLUICE_HIPCC} -std=c++20 -O3 -fPIC -ffp-contract=off -fvisibility=hidden -Wall -Wno-unused-function
              ${architectures} "${hip_OPTIONS}" -DSL_TARGET_HIP=1 -DSL_TARGET="hip" ${hip_INCLUDES} -MD -MF ${object}.d -MT ${object}
              -x hip -c ${path} -o ${object} COMMAND_EXPAND_LISTS)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(sluice_wrap_sources result target language)
  set(wrapped)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(source MATCHES "\\.cu$")
      set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${target}/${source}.${language})
      file(GENERATE OUTPUT ${wrapper} CONTENT "#include \"${path}\"\n")
      set_source_files_properties(${wrapper} PROPERTIES OBJECT_DEPENDS ${path})
      list(APPEND wrapped ${wrapper})
    else()
      list(APPEND wrapped ${path})
    endif()
  endforeach()
  set(${result} ${wrapped} PARENT_SCOPE)
endfunction()

# Called by sluice_add_plugin, with its variables in scope: adds NAME.TARGET.so from the sources in ARGN.
function(sluice_add_plugin_target target define language)
  set(kind ${target})
  if(level)
    string(APPEND kind .${level})
  endif()
  if(target STREQUAL "hip")
    set(kernels ${ARGN})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    sluice_hip_objects(sources ${name} SOURCES ${kernels} INCLUDES ${SLUICE_INCLUDE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}
                       ${CMAKE_CURRENT_SOURCE_DIR}/include ${arg_INCLUDES}
                       OPTIONS $<$<BOOL:${SLUICE_HIP_KERNELS_ONLY}>:--offload-device-only>)
    if(SLUICE_HIP_KERNELS_ONLY)
      add_custom_target(${name}.hip ALL DEPENDS ${sources})
      return()
    endif()
    set(rest ${ARGN})
    list(FILTER rest EXCLUDE REGEX "\\.cu$")
    list(APPEND sources ${rest})
  else()
    sluice_wrap_sources(sources ${kind} ${language} ${ARGN})
  endif()
  set(library ${name}.${kind})
  add_library(${library} MODULE ${sources})
  if(TARGET sluice_plugins AND NOT target MATCHES "cuda|hip")
    add_dependencies(sluice_plugins ${library})
  endif()
  target_compile_definitions(${library} PRIVATE SL_TARGET_${define}=1 SL_TARGET="${target}")
  target_compile_options(${library} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${SLUICE_COMPILE_OPTIONS};-fvisibility=hidden>"
                         "$<$<COMPILE_LANGUAGE:CUDA>:${SLUICE_CUDA_OPTIONS}>")
  target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include
                             ${arg_INCLUDES})
  target_link_libraries(${library} PRIVATE Sluice::headers ${arg_LIBRARIES})
  set_target_properties(${library} PROPERTIES PREFIX "" OUTPUT_NAME ${name}.${target} SUFFIX ".so"
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins/${level} C_STANDARD 11 C_EXTENSIONS ON)
  if(arg_TEST_ONLY)
    set_target_properties(${library} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/plugins)
  else()
    set(component sluice)
    if(target MATCHES "^(simt|race)$")
      set(component emulator)
    endif()
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sluice/plugins/${level} COMPONENT ${component})
  endif()
endfunction()

# NAME.cpu.so for processors of the level x86-64-v4. The file is marked with this level, so that no other processor loads
# it. It is built together with the version for all processors, so that it is never older.
function(sluice_add_level_target)
  set(level x86-64-v4)
  sluice_add_plugin_target(cpu CPU c ${ARGN})
  target_compile_options(${name}.cpu.${level} PRIVATE -march=${level})
  target_link_options(${name}.cpu.${level} PRIVATE LINKER:-z,${level})
  add_dependencies(${name}.cpu ${name}.cpu.${level})
endfunction()

function(sluice_show_only library symbol)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${symbol}.map CONTENT "{ global: ${symbol}; local: *; };\n")
  target_link_options(${library} PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/${symbol}.map)
endfunction()

# No relocatable device code, the shared CUDA runtime, one exported symbol.
function(sluice_use_cuda library symbol)
  set_target_properties(${library} PROPERTIES CUDA_RUNTIME_LIBRARY Shared
                        CUDA_SEPARABLE_COMPILATION OFF)
  if(SKBUILD) # in a wheel, the CUDA runtime is that of NVIDIA's package, if that is installed
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN/../../../../../nvidia/cu13/lib")
  endif()
  sluice_show_only(${library} ${symbol})
endfunction()

# NAME.race.so: the plugin for the emulator, with a call before each access and the called functions.
function(sluice_add_race_target)
  sluice_add_plugin_target(race SIMT c ${ARGN})
  set(library ${name}.race)
  set(hooks ${CMAKE_CURRENT_BINARY_DIR}/race/${name}_hooks.c)
  file(GENERATE OUTPUT ${hooks} CONTENT "#define SL_RACE_HOOKS 1\n#include <sluice/simt_race.h>\n")
  set_source_files_properties(${hooks} PROPERTIES GENERATED ON COMPILE_OPTIONS -fno-sanitize=thread)
  target_sources(${library} PRIVATE ${hooks})
  target_compile_definitions(${library} PRIVATE SL_RACE=1)
  target_compile_options(${library} PRIVATE ${SLUICE_RACE_OPTIONS})
  target_link_options(${library} PRIVATE -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset)
  sluice_show_only(${library} sluice_plugin)
endfunction()

function(sluice_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST_ONLY" "" "SOURCES;HOST_SOURCES;CPU_SOURCES;INCLUDES;LIBRARIES;TARGETS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sluice_add_plugin(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS cpu simt cuda hip)
  endif()
  sluice_add_plugin_target(cpu CPU c ${arg_SOURCES} ${arg_HOST_SOURCES} ${arg_CPU_SOURCES})
  if(SLUICE_X86_64_V4 AND NOT arg_TEST_ONLY AND "${arg_SOURCES}" MATCHES "\\.cu(;|$)")
    sluice_add_level_target(${arg_SOURCES} ${arg_HOST_SOURCES} ${arg_CPU_SOURCES})
  endif()
  if(SLUICE_SIMT AND simt IN_LIST arg_TARGETS AND "${arg_SOURCES}" MATCHES "\\.cu(;|$)")
    sluice_add_plugin_target(simt SIMT c ${arg_SOURCES})
    # GNU ld exports its symbols for the section of shared memory, unless a version script prevents it.
    sluice_show_only(${name}.simt sluice_plugin)
  endif()
  if(SLUICE_RACE AND TARGET ${name}.simt)
    sluice_add_race_target(${arg_SOURCES})
  endif()
  if(CMAKE_CUDA_COMPILER AND cuda IN_LIST arg_TARGETS AND "${arg_SOURCES}" MATCHES "\\.cu(;|$)")
    sluice_add_plugin_target(cuda CUDA cu ${arg_SOURCES})
    sluice_use_cuda(${name}.cuda sluice_plugin)
  endif()
  if(SLUICE_HIP AND hip IN_LIST arg_TARGETS AND "${arg_SOURCES}" MATCHES "\\.cu(;|$)")
    sluice_add_plugin_target(hip HIP hip ${arg_SOURCES})
    if(NOT SLUICE_HIP_KERNELS_ONLY)
      target_link_libraries(${name}.hip PRIVATE ${SLUICE_HIP_LIBRARY})
      set_target_properties(${name}.hip PROPERTIES LINKER_LANGUAGE CXX)
      sluice_show_only(${name}.hip sluice_plugin)
    endif()
  endif()
endfunction()

# sluice_embed_text(RESULT FILE SYMBOL): a header in the build tree that defines SYMBOL as a string with the file's text;
# RESULT becomes the folder to include it from. The header is written again when the file changes.
function(sluice_embed_text result file symbol)
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${symbol}.h CONTENT "static const char ${symbol}[] =\n    \"${text}\";\n" @ONLY)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()
