#!/bin/sh
# A worker: it runs once for each attempt. The dispatch, a JSON file, says which task it is and where its input lies.
set -eu
task=$(sed -n 's/^ "task_id": "\(.*\)",*$/\1/p' "$REMIT_DISPATCH")
text=$(sed -n 's/.*"path": "\(.*\)".*/\1/p' "$REMIT_DISPATCH" | head -n 1)
echo "working on $task" # stdout and stderr are kept: remit logs first-1 $task
case $task in
  greet) echo "Hello from a verified worker" >"$REMIT_OUT/greeting.txt" ;; # an output, by its file's name
  count) wc -w <"$text" | tr -d ' ' >"$REMIT_OUT/words.txt" ;;
  *) echo "no task called $task"; exit 1 ;;
esac
echo '{"tokens_in": 0, "tokens_out": 0, "tool_calls": 0}' >"$REMIT_USAGE" # unreported, the whole budget would be booked
