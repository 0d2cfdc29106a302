#!/usr/bin/awk -f
# The same worker in another language.
BEGIN {
  while ((getline line < ENVIRON["REMIT_DISPATCH"]) > 0)
    if (match(line, /"path": ".*"/) && text == "") text = substr(line, RSTART + 9, RLENGTH - 10)
  while ((getline line < text) > 0) words += split(line, parts, /[ \t]+/)
  system("sleep 2") # so that the others are seen at work at the same time
  print words > (ENVIRON["REMIT_OUT"] "/count.txt")
  # Unreported, the whole budget would be booked.
  print "{\"tokens_in\": 0, \"tokens_out\": 0, \"tool_calls\": 0}" > ENVIRON["REMIT_USAGE"]
}
