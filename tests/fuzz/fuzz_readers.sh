#!/bin/bash
# Runs all fuzz targets on new seeds: 18 seconds in all, with `tools/test --long` a minute.
exec "$PROF_SOURCE/tools/fuzz" --build "$PROF_BUILD" "$([[ -n ${PROF_LONG:-} ]] && echo 60 || echo 18)"
