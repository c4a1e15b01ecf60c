#!/bin/bash
# Does at random what programs do, with pages isolated at random and a new seed each time: one round, or a minute with
# `tools/test --long`.
exec "$PROF_SOURCE/tools/soak" --build "$PROF_BUILD" --seconds "$([[ -n ${PROF_LONG:-} ]] && echo 60 || echo 20)"
