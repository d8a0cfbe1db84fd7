# Commit.cmake: the commit that is built, as a source of one line. Run at each build; the source changes only when the
# commit does, or when files begin or cease to differ from it:
#   cmake -D SOURCE=FOLDER -D OUTPUT=FILE.c -P Commit.cmake
# Of a clone git says it; of an archive that git made, commit.txt beside this file; else it is unknown.
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
