// With sanitizers on, GCC 12 warns of uninitialised members in <regex>, which Catch includes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
