# DebianFiles.cmake: cpack runs it on the files of the package before packing. It strips programs and libraries, compresses
# man pages, and adds the copyright, the changelog and the overrides for lintian. CPACK_SLUICE_DEBIAN is the folder debian
# next to this file.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)

# Plugins for --race keep symbols and debug information: lines and variables are named by them.
file(GLOB_RECURSE programs ${root}/bin/* ${root}/lib/*.a ${root}/lib/*.so ${root}/lib/*.so.*)
foreach(program ${programs})
  if(NOT IS_SYMLINK ${program} AND NOT program MATCHES "/plugins/[^/]*[.]race[.]so$")
    execute_process(COMMAND ${CPACK_SLUICE_STRIP} --strip-unneeded --remove-section=.comment --remove-section=.note ${program}
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# The linker's own search path has /usr/lib.
file(GLOB_RECURSE module ${root}/lib/*/sluice.pc ${root}/lib/pkgconfig/sluice.pc)
file(READ ${module} text)
string(REPLACE " -Wl,-rpath,\${libdir}" "" text "${text}")
file(WRITE ${module} "${text}")

set(doc ${root}/share/doc/sluice)
configure_file(${CPACK_SLUICE_DEBIAN}/copyright ${doc}/copyright COPYONLY)
configure_file(${CPACK_SLUICE_DEBIAN}/overrides ${root}/share/lintian/overrides/sluice COPYONLY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, where that is set
configure_file(${CPACK_SLUICE_DEBIAN}/changelog.in ${doc}/changelog @ONLY)
file(GLOB pages ${root}/share/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
