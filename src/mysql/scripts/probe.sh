#!/usr/bin/env bash
# Readiness: this member is ONLINE in a group in which a majority is reachable. Reads what watch.sh wrote a moment ago and starts no
# process, so that it costs a few milliseconds.
set -u
STATE=${RUN:-/var/run/mysqld}/state
FRESH=5 # seconds
read -r written state role unreachable total <"$STATE" 2>/dev/null || { echo "not looked at yet"; exit 1; }
printf -v now '%(%s)T' -1
[ $((now - written)) -le "$FRESH" ] || { echo "last seen $((now - written)) s ago"; exit 1; }
echo "$state $role, $unreachable of $total unreachable"
[ "$state" = ONLINE ] && [ $((unreachable * 2)) -lt "$total" ]
