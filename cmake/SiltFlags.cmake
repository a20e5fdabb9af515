# Language, warnings, build types and sanitizers, for every target of the project.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17) # only for thin doors to C++ libraries
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the same objects go into the command and into libsilt.so

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# No build defines NDEBUG: an assertion is a programmer's error, and a lakehouse engine that goes on after one may write it
# into a table. They are not used in per-row loops.
foreach(lang C CXX)
  set(CMAKE_${lang}_FLAGS_DEBUG "-O0 -g")
  set(CMAKE_${lang}_FLAGS_RELEASE "-O2 -g")
  set(CMAKE_${lang}_FLAGS_SANITIZE "-O1 -g -fno-omit-frame-pointer")
endforeach()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wshadow -Wconversion
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
# Out-parameters are set exactly when the status is SILT_OK; the optimiser cannot see that across files and warns at every TRY. The
# sanitizer builds watch what it would have found.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wno-maybe-uninitialized>)
if(SILT_WERROR)
  add_compile_options(-Werror)
endif()
add_link_options(-Wl,--as-needed -Wl,-z,relro -Wl,-z,now)

if(SILT_SANITIZE)
  add_compile_options(-fsanitize=${SILT_SANITIZE})
  add_link_options(-fsanitize=${SILT_SANITIZE})
  if(SILT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
endif()
if(SILT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
