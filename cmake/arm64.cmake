# arm64.cmake: toolchain for 64-bit ARM on a Debian host of another processor: Debian's cross compiler, and libraries of the
# architecture arm64 beside those of the host. Programs run under qemu-aarch64, which finds these libraries by itself.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_C_COMPILER) # -D CMAKE_C_COMPILER=clang works too
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu) # for clang
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(SLUICE_QEMU qemu-aarch64)
if(SLUICE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SLUICE_QEMU})
endif()
