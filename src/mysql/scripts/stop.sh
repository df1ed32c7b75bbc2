#!/usr/bin/env bash
# Before the end: a primary hands over to another ONLINE member, so that clients see a switchover and not a failover. Bounded, and
# never a reason not to end.
set -u
. "${CONFIG:-/etc/mysql-operator}/env.sh"
read -r _ state role _ <"$STATE" 2>/dev/null || exit 0
[ "$state" = ONLINE ] && [ "$role" = PRIMARY ] || exit 0
case $(sql -e 'SELECT @@version') in 5.*) exit 0 ;; esac
heir=$(sql -e "SELECT MEMBER_ID FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'SECONDARY' ORDER BY MEMBER_ID LIMIT 1")
[ -n "$heir" ] || exit 0
say "handing over to $heir"
sql -e "SELECT group_replication_set_as_primary('$heir', 10)" >&2
exit 0
