#!/bin/bash
# All that programs do at random, with their pages isolated at random, by a seed of its own: one round, with `tools/test --long`
# a minute.
exec "$PROF_SOURCE/tools/soak" --build "$PROF_BUILD" --seconds "$([[ -n ${PROF_LONG:-} ]] && echo 60 || echo 20)"
