#!/bin/bash
# All fuzz targets, a minute in all, on seeds made afresh.
exec "$PROF_SOURCE/tools/fuzz" --build "$PROF_BUILD" 60
