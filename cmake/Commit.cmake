# Commit.cmake: writes a source file with the commit. Run at each build; the file changes only when the commit changes, or
# when the first file is modified or the last one is restored:
#   cmake -D SOURCE=FOLDER -D OUTPUT=FILE.c -P Commit.cmake
# A clone gets the commit from git, an archive made by git from commit.txt next to this file; otherwise it is unknown.
set(commit "unknown")
file(REAL_PATH "${SOURCE}" source)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${source} rev-parse --show-toplevel OUTPUT_VARIABLE top
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(top STREQUAL source) # and not an archive that lies within another clone
    execute_process(COMMAND ${GIT} -C ${source} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE described
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(described)
  set(commit "${described}")
elseif(EXISTS ${source}/cmake/commit.txt)
  file(READ ${source}/cmake/commit.txt archived)
  if(archived MATCHES "^([0-9a-f]+)")
    string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  endif()
endif()

set(line "extern const char sl_commit_text[];\nconst char sl_commit_text[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL line)
  file(WRITE ${OUTPUT} "${line}")
endif()
