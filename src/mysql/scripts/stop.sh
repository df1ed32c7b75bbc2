#!/usr/bin/env bash
# Before the end: a primary hands over to another ONLINE member, so that clients see a switchover and not a failover. Bounded, and
# never a reason not to end.
set -u
. "${CONFIG:-/etc/mysql-operator}/env.sh"
PATIENCE=15 # seconds for each answer: a server that hangs must not use up the time that its shutdown may take
ask() { # the first line of what the server answers
  local line; read -r -t "$PATIENCE" line < <(sql -e "$1" 2>&1) && printf '%s' "$line"
}
read -r _ state role _ <"$STATE" 2>/dev/null || exit 0
[ "$state" = ONLINE ] && [ "$role" = PRIMARY ] || exit 0
# 5.7 has no such column, and no order to hand over: the others elect one when it leaves
heir=$(ask "SELECT MEMBER_ID FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'SECONDARY' ORDER BY MEMBER_ID LIMIT 1")
[[ $heir =~ ^[0-9a-f-]{36}$ ]] || exit 0
say "handing over to $heir: $(ask "SELECT group_replication_set_as_primary('$heir', 10)")"
exit 0
