#!/usr/bin/env bash
# Looks at this member once a second over one kept connection, writes what it is for probe.sh, posts a nudge when that is news or
# trouble, and sets the accounts again when the Secret has changed. One connection and no new process a second: a client each time
# would cost more than mysqld at rest.
set -uo pipefail
. "${CONFIG:-/etc/mysql-operator}/env.sh"
REPEAT=10    # seconds between nudges of a member in trouble that has nothing new to say
PATIENCE=5   # seconds that a nudge may take

members='performance_schema.replication_group_members'
own="MEMBER_ID = @@server_uuid"
case ${SERVER_VERSION:-9} in
  5.*) role="(SELECT IF(VARIABLE_VALUE = '', '-', IF(VARIABLE_VALUE = @@server_uuid, 'PRIMARY', 'SECONDARY')) FROM performance_schema.global_status WHERE VARIABLE_NAME = 'group_replication_primary_member')" ;;
  *) role="IFNULL(MAX(IF($own, NULLIF(MEMBER_ROLE, ''), NULL)), '-')" ;;
esac
query="SELECT IFNULL(MAX(IF($own, MEMBER_STATE, NULL)), 'OFFLINE'), $role, IFNULL(SUM(MEMBER_STATE = 'UNREACHABLE'), 0), COUNT(*) FROM $members;"

connected='' client_pid=''
disconnect() { [ -z "$client_pid" ] || kill "$client_pid" 2>/dev/null; connected=''; client_pid=''; }
connect() {
  [ -S "$SOCKET" ] || return 1
  coproc CLIENT { sql --unbuffered 2>/dev/null; }
  # shellcheck disable=SC2153
  client_pid=$CLIENT_PID; exec 8<&"${CLIENT[0]}" 9>&"${CLIENT[1]}"
  connected=yes
}
look() { # sets `seen` to "STATE ROLE UNREACHABLE TOTAL", or to "DOWN - 0 0"
  seen='DOWN - 0 0'
  [ -n "$connected" ] || connect || return
  local row
  if { echo "$query" >&9; } 2>/dev/null && read -r -t 2 row <&8; then seen=${row//$'\t'/ }; else disconnect; fi
}

post() { # a CloudEvent in binary mode over bash's own TCP
  local url authority host port path id
  url=$(<"$CONFIG/nudge-url"); url=${url#http://}
  authority=${url%%/*}; path=${url#"$authority"}; path=${path:-/}
  case $authority in
    \[*\]:*) host=${authority%:*} port=${authority##*:} ;;
    \[*) host=$authority port=80 ;;
    *:*) host=${authority%:*} port=${authority##*:} ;;
    *) host=$authority port=80 ;;
  esac
  id=$POD_NAMESPACE-$POD_NAME-$(printf '%(%s)T' -1)-$RANDOM
  host=${host#\[}; host=${host%\]}
  exec 3<>"/dev/tcp/$host/$port" || return
  printf '%s\r\n' "POST $path HTTP/1.1" "Host: $authority" 'Connection: close' 'Content-Length: 0' 'ce-specversion: 1.0' \
    'ce-type: com.example.mysql.nudge' "ce-source: /mysql/$POD_NAMESPACE/$CLUSTER/$POD_NAME" "ce-id: $id" \
    "ce-subject: $POD_NAMESPACE/$CLUSTER" '' >&3
  read -r -t "$PATIENCE" _ <&3
}
poster='' posted_at=0
nudge() { # one at a time and never waited for: nobody may be listening
  local now=$SECONDS
  if [ -n "$poster" ] && kill -0 "$poster" 2>/dev/null; then
    [ $((now - posted_at)) -ge "$PATIENCE" ] || return 1
    kill "$poster" 2>/dev/null
  fi
  (post) >/dev/null 2>&1 &
  poster=$! posted_at=$now
}

secrets() { local f; for f in "$CREDENTIALS"/*; do [ ! -f "$f" ] || printf '%s=%s\n' "$f" "$(<"$f")"; done; }
known=$(secrets)
rotate() { # only a running server can take it; a starting one reads the Secret itself
  local now; now=$(secrets)
  [ "$now" != "$known" ] || return 0
  local statements trouble
  statements=$(bash "$CONFIG/accounts.sh" running) || return 0 # it has said what is missing
  trouble=$(printf '%s\n' "$statements" | sql --force 2>&1 >/dev/null)
  if [ -z "$trouble" ]; then known=$now; say "accounts set again: the Secret has changed"; else say "accounts not set: $trouble"; fi
}

trap 'disconnect; exit 0' TERM INT
trap '' PIPE # a client that has gone is connected anew
exec 7<> <(:)
said='' said_at=-$REPEAT tick=0
while :; do
  look
  read -r state role unreachable _ <<<"$seen"
  printf '%(%s)T %s\n' -1 "$seen" >"$STATE.new" && mv "$STATE.new" "$STATE"
  [ "$unreachable" = 0 ] && trouble='' || trouble=yes
  [ "$state" = ONLINE ] || trouble=yes
  news="$state $role $trouble"
  if [ "$news" != "$said" ] || { [ -n "$trouble" ] && [ $((SECONDS - said_at)) -ge "$REPEAT" ]; }; then
    nudge && { said=$news; said_at=$SECONDS; }
  fi
  tick=$(((tick + 1) % 5))
  [ "$tick" != 0 ] || [ "$state" = DOWN ] || rotate
  read -r -t 1 -u 7 _ || : # nothing ever comes: a sleep without a process
done
