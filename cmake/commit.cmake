# cmake -DSOURCE=CHECKOUT -DOUT=FILE.cc -P commit.cmake: writes the commit of the checkout into FILE.cc, empty where there is none.
# The file keeps its time where nothing changed, so that nothing is built again.
cmake_minimum_required(VERSION 3.25)
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(here ${SOURCE} REALPATH)
  # Not the commit of a checkout this folder only lies in.
  if(top STREQUAL here)
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty=\ with\ changes --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY
     CONTENT "namespace unmask {\nextern const char* const kCommit;\nconst char* const kCommit = \"@commit@\";\n}  // namespace unmask\n")
