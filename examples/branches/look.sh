#!/bin/sh
# A worker of the pool `testing` that has nothing to do itself: the runner runs the suite after it.
echo '{"tokens_in": 0, "tokens_out": 0, "tool_calls": 0}' >"$REMIT_USAGE"
