#!/bin/sh
# Runs `cupel check` on RECORD with ARGUMENTS, and puts its summary on the page of the run, whether it holds or not.
set -u
summary=$(mktemp)
# Tolerances are several words: they are split on purpose.
# shellcheck disable=SC2086
cupel check "$RECORD" ${ARGUMENTS:-} --junit cupel-check.xml --markdown "$summary"
code=$?
cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
rm -f "$summary"
exit "$code"
