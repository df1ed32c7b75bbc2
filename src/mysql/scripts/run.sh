#!/usr/bin/env bash
# PID 1 of a member: makes the data directory, runs mysqld, and restarts it in place after a clone (exit 16) and, a few times, after a
# crash: a container in CrashLoopBackOff would wait for minutes. Ends when it is told to, or when mysqld keeps crashing.
set -uo pipefail
. "${CONFIG:-/etc/mysql-operator}/env.sh"
MOST_CRASHES=5        # within CRASH_WINDOW seconds
CRASH_WINDOW=300
mysqld_pid='' watch_pid='' ending=''

version=$("$MYSQLD" --no-defaults --version 2>/dev/null) || { say "$MYSQLD does not run: is this an image of MySQL?"; exit 1; }
version=${version#*Ver } version=${version%%[ -]*}
export SERVER_VERSION=$version
at_least() { # at_least 8 0 27: is the server that or newer?
  local have want i; IFS=. read -ra have <<<"$version"; want=("$@")
  for i in 0 1 2; do
    [ "${have[i]:-0}" -gt "${want[i]:-0}" ] && return 0
    [ "${have[i]:-0}" -lt "${want[i]:-0}" ] && return 1
  done
  return 0
}
memory_limit() { # bytes; nothing when there is none
  local limit=''
  [ ! -r /sys/fs/cgroup/memory.max ] || limit=$(</sys/fs/cgroup/memory.max)
  [ ! -r /sys/fs/cgroup/memory/memory.limit_in_bytes ] || limit=$(</sys/fs/cgroup/memory/memory.limit_in_bytes)
  case $limit in ''|max) ;; *) [ ${#limit} -gt 15 ] || echo "$limit" ;; esac
}
write_config() { # what depends on this member and this version; the shared file comes after it, so spec.config wins
  local limit group_port=$PORT; limit=$(memory_limit)
  echo '[mysqld]'
  echo "server_id = $((ORDINAL + 1))"
  echo "report_host = $HOST"
  echo "report_port = $PORT"
  echo "port = $PORT"
  echo "datadir = $DATA"
  echo "socket = $SOCKET"
  echo "pid_file = $RUN/mysqld.pid"
  echo "tmpdir = ${TMPDIR:-/tmp}"
  echo "secure_file_priv = NULL"
  echo "init_file = $RUN/accounts.sql"
  echo "plugin_load_add = auth_socket.so"
  echo "plugin_load_add = group_replication.so"
  ! at_least 8 0 17 || echo "plugin_load_add = mysql_clone.so"
  if at_least 8 0 27; then echo "loose_group_replication_communication_stack = MYSQL"; else group_port=33061; fi
  at_least 8 0 21 || echo "binlog_checksum = NONE"
  at_least 8 0 0 || printf '%s\n' 'master_info_repository = TABLE' 'relay_log_info_repository = TABLE' \
    'transaction_write_set_extraction = XXHASH64' 'log_slave_updates = ON' "loose_group_replication_ip_whitelist = 0.0.0.0/0"
  ! { at_least 8 0 22 && ! at_least 8 0 27; } || echo "loose_group_replication_ip_allowlist = 0.0.0.0/0,::/0"
  echo "loose_group_replication_local_address = $HOST:$group_port"
  # half for InnoDB: Group Replication, connections and performance_schema want the rest
  [ -z "$limit" ] || [ "$limit" -lt 536870912 ] || echo "innodb_buffer_pool_size = $((limit / 2))"
  [ -z "${EXTRA_CONFIG:-}" ] || printf '%s\n' "$EXTRA_CONFIG"
  echo "!include $CONFIG/my.cnf"
}
start_mysqld() {
  (umask 077; bash "$CONFIG/accounts.sh" start >"$RUN/accounts.sql") || return 1
  # a supervisor is announced, so that mysqld asks for its restart after a clone (MySQL manual, RESTART statement)
  MYSQLD_PARENT_PID=$$ "$MYSQLD" --defaults-file="$RUN/my.cnf" &
  mysqld_pid=$!
}
end() { # SIGTERM and SIGINT: a clean shutdown, as long as kubelet's grace period allows
  ending=yes
  [ -z "$mysqld_pid" ] || kill -TERM "$mysqld_pid" 2>/dev/null
}
trap end TERM INT

bash "$CONFIG/init.sh" & wait $!; made=$?
[ -z "$ending" ] || exit 0
[ "$made" = 0 ] || exit 1
write_config >"$RUN/my.cnf"
bash "$CONFIG/watch.sh" & watch_pid=$!
crashes=()
while :; do
  start_mysqld || { say "the Secret is not complete"; exit 1; }
  say "mysqld $version started as $HOST"
  while :; do # a trapped signal ends `wait` early: ask again until mysqld is gone
    wait "$mysqld_pid"; code=$?
    kill -0 "$mysqld_pid" 2>/dev/null || break
  done
  [ -z "$ending" ] || break
  if [ "$code" = 16 ]; then say "mysqld asked for a restart"; continue; fi
  now=$SECONDS; recent=()
  # ${a[@]+…}: bash before 4.4, as in images of MySQL 5.7, takes an empty array for an unset one
  for at in ${crashes[@]+"${crashes[@]}"}; do [ $((now - at)) -gt "$CRASH_WINDOW" ] || recent+=("$at"); done
  crashes=(${recent[@]+"${recent[@]}"} "$now")
  say "mysqld ended with $code (${#crashes[@]} times within $CRASH_WINDOW s)"
  [ "${#crashes[@]}" -le "$MOST_CRASHES" ] || break
done
kill "$watch_pid" 2>/dev/null
rm -f "$STATE"
[ -n "$ending" ] || exit 1
say "mysqld ended"
exit 0
