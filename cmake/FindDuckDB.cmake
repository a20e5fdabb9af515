# DuckDB::DuckDB, exactly SILT_DUCKDB_VERSION. In this order: SILT_DUCKDB_LIBRARY and SILT_DUCKDB_INCLUDE (CMake variables,
# or the environment), pkg-config's duckdb, the pinned copy that scripts/setup.sh fetched. Sets SILT_DUCKDB_FETCHED for the
# last: `make install` then takes the library along. The exact version is checked again when the library is opened.
set(SILT_DUCKDB_VERSION 1.5.6)
set(SILT_DUCKDB_LIBRARY "$ENV{SILT_DUCKDB_LIBRARY}" CACHE FILEPATH "libduckdb.so to use instead of the pinned one")
set(SILT_DUCKDB_INCLUDE "$ENV{SILT_DUCKDB_INCLUDE}" CACHE PATH "folder of its duckdb.h")

set(SILT_DUCKDB_FETCHED OFF)
set(_library "${SILT_DUCKDB_LIBRARY}")
set(_include "${SILT_DUCKDB_INCLUDE}")
if(NOT _library AND NOT _include)
  pkg_check_modules(duckdb QUIET duckdb=${SILT_DUCKDB_VERSION})
  if(duckdb_FOUND)
    pkg_get_variable(_include duckdb includedir)
    set(_library "${pkgcfg_lib_duckdb_duckdb}")
  else()
    if(DEFINED ENV{SILT_DEPS})
      set(_root $ENV{SILT_DEPS}/duckdb-${SILT_DUCKDB_VERSION})
    else()
      set(_root $ENV{HOME}/.cache/silt/deps/duckdb-${SILT_DUCKDB_VERSION})
    endif()
    set(_library ${_root}/lib/libduckdb.so)
    set(_include ${_root}/include)
    set(SILT_DUCKDB_FETCHED ON)
  endif()
endif()
if(NOT EXISTS "${_library}" OR NOT EXISTS "${_include}/duckdb.h")
  if(SILT_DUCKDB_FETCHED)
    message(FATAL_ERROR "libduckdb is not here yet: run scripts/setup.sh, then this again")
  endif()
  message(FATAL_ERROR "SILT_DUCKDB_LIBRARY='${_library}' must be a libduckdb.so, and "
    "SILT_DUCKDB_INCLUDE='${_include}' the folder of its duckdb.h; name both or neither")
endif()

# Its header and where it is: the engine loads the library itself, at its first use (engine/duckdb_calls.h). The build's own programs
# find it by their run-time path; under a sanitizer, whose runtime asks for it in their place, by its file too.
get_filename_component(SILT_DUCKDB_DIR ${_library} DIRECTORY)
add_library(DuckDB::DuckDB INTERFACE IMPORTED)
set_target_properties(DuckDB::DuckDB PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${_include} INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
if(SILT_SANITIZE)
  set_property(TARGET DuckDB::DuckDB PROPERTY INTERFACE_COMPILE_DEFINITIONS ENGINE_DUCKDB_FILE="${_library}")
endif()
set(CMAKE_BUILD_RPATH ${SILT_DUCKDB_DIR})
set(DuckDB_FOUND ON)
