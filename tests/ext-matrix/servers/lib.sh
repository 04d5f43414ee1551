# Sourced by the suites that need the servers; bash. Before `start_servers` are set:
#
#   php        the PHP that runs the peer
#   work       a folder, and $work/logs, for all that the servers keep
#   wanted     an array with the wanted ones as its keys: postgres mariadb redis memcached rabbitmq ftp ldap imap snmp ssh peer http2 nginx
#              dns (http2 and nginx need peer, whose certificate they have)
#
# Afterwards their addresses are in the environment; `missing` has a reason for each one that did not start, `unavailable` for
# dns where it cannot be. What is started later should close the descriptors $peer_input and $dns_input: the peer and the
# name server end when nobody holds them. What is to ask the name server is started by the command in `with_dns`. `stop_servers` ends all.
# shellcheck shell=bash disable=SC2154

servers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
servers_started=0 apache='' nginx='' with_dns=()

start_real() {
    local names=() name
    for name in postgres mariadb redis memcached rabbitmq ftp ldap imap snmp ssh; do [ -z "${wanted[$name]:-}" ] || names+=("$name"); done
    [ ${#names[@]} -gt 0 ] || return 0
    servers_started=1
    if "$servers/../../../scripts/servers" start "$work/servers" "${names[@]}"; then
        # shellcheck disable=SC1091
        . "$work/servers/env"
    else
        for name in "${names[@]}"; do missing[$name]="the server $name did not start"; done
    fi
}

start_peer() {
    local modules=() name tries=200 folder
    folder=$("$php" -r 'echo ini_get("extension_dir");')
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key" -out "$work/cert" 2>"$work/logs/openssl"
    cat "$work/cert" "$work/key" >"$work/pem"
    for name in openssl soap; do
        if [ -f "$folder/$name.so" ]; then modules+=(-d extension="$name"); fi
    done
    exec {peer_input}>&- {peer_input}> >(exec setsid "$php" -n "${modules[@]}" "$servers/peer.php" "$work/pem" "$work/peer.sock" "$work/peer.env" \
        >"$work/logs/peer" 2>&1)
    while [ ! -f "$work/peer.env" ]; do
        ((tries-- > 0)) || { missing[peer]="the server peer did not start: $(tail -n 1 "$work/logs/peer")"; return; }
        sleep 0.05
    done
    # shellcheck disable=SC1091
    . "$work/peer.env"
}

# Below the range the kernel hands out by itself, so that no client connection takes the port before the server does.
start_http2() {
    local tries program _
    program=$(command -v apache2 || command -v /usr/sbin/apache2) || { missing[http2]="apache2 is not installed"; return; }
    export MATRIX_APACHE=$work/apache MATRIX_HTTP2_PORT
    mkdir "$MATRIX_APACHE"
    for _ in 1 2 3; do
        MATRIX_HTTP2_PORT=$((20000 + RANDOM % 12000))
        setsid "$program" -f "$servers/apache.conf" -D FOREGROUND </dev/null >"$work/logs/apache" 2>&1 {peer_input}>&- &
        apache=$!
        for ((tries = 200; tries > 0; tries--)); do
            kill -0 "$apache" 2>/dev/null || break
            (: <"/dev/tcp/127.0.0.1/$MATRIX_HTTP2_PORT") 2>/dev/null && [ -f "$MATRIX_APACHE/pid" ] && return
            sleep 0.05
        done
        kill -KILL -- "-$apache" 2>/dev/null
    done
    missing[http2]="apache2 did not start: $(cat "$work/logs/apache" "$MATRIX_APACHE/log" 2>/dev/null | tail -n 1)"
}

start_nginx() {
    local tries program folder=$work/nginx _
    program=$(command -v nginx || command -v /usr/sbin/nginx) || { missing[nginx]="nginx is not installed"; return; }
    export MATRIX_NGINX_PORT MATRIX_NGINX_TLS_PORT
    mkdir -p "$folder/files"
    for ((tries = 0; tries < 40; tries++)); do
        seq -f "file $tries, line %g" 1 4000 >"$folder/files/$tries"
    done
    chmod -R a+rX "$folder" # not "$work": sshd refuses a host key that others may read
    for _ in 1 2 3; do
        MATRIX_NGINX_PORT=$((20000 + RANDOM % 12000))
        MATRIX_NGINX_TLS_PORT=$((MATRIX_NGINX_PORT + 1))
        sed -e "s,FOLDER,$folder,g; s,PLAIN_PORT,$MATRIX_NGINX_PORT,; s,TLS_PORT,$MATRIX_NGINX_TLS_PORT," \
            -e "s,CERTIFICATE,$work/cert,; s,KEY,$work/key," "$servers/nginx.conf" >"$folder/conf"
        setsid "$program" -c "$folder/conf" -p "$folder" -e "$folder/log" </dev/null >"$work/logs/nginx" 2>&1 {peer_input}>&- &
        nginx=$!
        for ((tries = 200; tries > 0; tries--)); do
            kill -0 "$nginx" 2>/dev/null || break
            (: <"/dev/tcp/127.0.0.1/$MATRIX_NGINX_TLS_PORT") 2>/dev/null && [ -f "$folder/pid" ] && return
            sleep 0.05
        done
        kill -KILL -- "-$nginx" 2>/dev/null
    done
    missing[nginx]="nginx did not start: $(cat "$work/logs/nginx" "$folder/log" 2>/dev/null | tail -n 1)"
}

# The C library asks who is named in /etc/resolv.conf, at port 53: root may have a file of its own there.
start_dns() {
    # An address of this run: PHP binds with SO_REUSEADDR, by which servers of runs at the same time would share their questions.
    local tries=100 address=127.$((64 + $$ % 128)).$(($$ / 128 % 256)).$((1 + $$ / 32768 % 254))
    echo "nameserver $address" >"$work/resolv.conf"
    # shellcheck disable=SC2016  # these are the inner shell's
    with_dns=(unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' "$work/resolv.conf")
    if ! "${with_dns[@]}" true 2>"$work/logs/dns"; then
        unavailable[dns]='it takes root, and the right to mount'
        return
    fi
    exec {dns_input}>&- {dns_input}> >(exec setsid "$php" -n "$servers/dns.php" "$address:53" \
        >"$work/logs/dns" 2>&1 {peer_input}>&-)
    until grep -q ready "$work/logs/dns"; do
        ((tries-- > 0)) || { missing[dns]="the name server did not start: $(tail -n 1 "$work/logs/dns")"; return; }
        sleep 0.05
    done
}

start_servers() {
    exec {peer_input}>/dev/null {dns_input}>/dev/null # become their standard input
    start_real
    [ -z "${wanted[peer]:-}" ] || start_peer
    [ -z "${wanted[http2]:-}" ] || start_http2
    [ -z "${wanted[nginx]:-}" ] || start_nginx
    [ -z "${wanted[dns]:-}" ] || start_dns
}

stop_servers() {
    [ -z "$apache" ] || { kill -TERM "$apache"; wait "$apache"; } 2>/dev/null
    [ -z "$nginx" ] || { kill -TERM "$nginx"; wait "$nginx"; } 2>/dev/null
    [ -z "${peer_input:-}" ] || exec {peer_input}>&- {dns_input}>&-
    [ "$servers_started" = 0 ] || "$servers/../../../scripts/servers" stop "$work/servers"
}
