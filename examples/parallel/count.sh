#!/bin/sh
# A worker: finds its input's path in the dispatch file, writes one file that bears the output's name.
set -eu
text=$(sed -n 's/.*"path": "\(.*\)".*/\1/p' "$REMIT_DISPATCH" | head -n 1)
sleep 2 # so that the others are seen at work at the same time
wc -w <"$text" >"$REMIT_OUT/count.txt"
echo '{"tokens_in": 0, "tokens_out": 0, "tool_calls": 0}' >"$REMIT_USAGE" # unreported, the whole budget would be booked
