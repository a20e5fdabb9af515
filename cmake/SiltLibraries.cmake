# Which module uses which library. DuckDB belongs to engine alone (scripts/check_includes.py holds it to that).
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(libxml2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(libedit REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)

# toml++ is used as headers alone: nothing of it is linked.
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)

# Debian's libroaring has no pkg-config file.
find_path(ROARING_INCLUDE roaring/roaring.h REQUIRED)
find_library(ROARING_LIBRARY roaring REQUIRED)
add_library(Roaring::Roaring UNKNOWN IMPORTED)
set_target_properties(Roaring::Roaring PROPERTIES
  IMPORTED_LOCATION ${ROARING_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ROARING_INCLUDE})

set(SILT_LIBRARIES_base PkgConfig::simdjson PkgConfig::zlib)
set(SILT_LIBRARIES_net PkgConfig::libcurl PkgConfig::libcrypto)
set(SILT_LIBRARIES_store PkgConfig::libxml2)
set(SILT_LIBRARIES_table Roaring::Roaring)
set(SILT_LIBRARIES_catalog PkgConfig::sqlite3)
set(SILT_LIBRARIES_engine DuckDB::DuckDB)
set(SILT_LIBRARIES_cli PkgConfig::libedit)
