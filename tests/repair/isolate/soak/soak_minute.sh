#!/bin/bash
# All that programs do at random, with their pages isolated at random: a minute, by a seed of its own.
exec "$PROF_SOURCE/tools/soak" --build "$PROF_BUILD" --seconds 60
