# The servers that only the tests want: part of scripts/servers, which reads this file and has what it uses.
# shellcheck shell=bash disable=SC2154  # $dir is there

# Has launch_NAME launch the server on free ports until one works. The port is left as SPINDLE_NAME_PORT, more as told.
on_free_port() { # NAME [VARIABLE=VALUE...]
    local name=$1 port
    for _ in 1 2 3; do
        port=$(free_port)
        "launch_$name" "$port"
        if wait_until "$name" listening "$port"; then
            shift
            printf 'export SPINDLE_%s\n' "${name^^}_PORT=$port" "$@" >"$dir/$name.env"
            return
        fi
        stop_one "$name"
    done
    return 1
}

listening() {
    : <"/dev/tcp/127.0.0.1/$1"
}

# Writes standard input to a file that the owner of server NAME may read.
write_for() { # NAME FILE
    cat >"$2"
    [ "$(id -u)" -ne 0 ] || chown "$(owner_of "$1"):" "$2"
}

start_memcached() {
    make_home memcached
    on_free_port memcached
}

launch_memcached() {
    launch memcached "$(program memcached)" -l 127.0.0.1 -p "$1" -U 0 -m 32 -c 300
}

# Erlang's nodes find one another by epmd, which a node would start by itself and leave behind: here it has one of its own.
start_rabbitmq() {
    make_home rabbitmq
    make_home epmd
    random_password | write_for rabbitmq "$dir/rabbitmq/.erlang.cookie"
    chmod 400 "$dir/rabbitmq/.erlang.cookie"
    echo '[].' | write_for rabbitmq "$dir/rabbitmq/plugins"
    on_free_port rabbitmq
}

launch_rabbitmq() {
    local home=$dir/rabbitmq epmd_port server
    # Not the one on the PATH, which asks who we are. Told that it runs under systemd, it becomes the node itself.
    server=$(echo /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server)
    [ -x "$server" ] || die "rabbitmq-server is not installed; 'scripts/setup test' installs it"
    epmd_port=$(free_port)
    launch epmd "$(program epmd)" -address 127.0.0.1 -port "$epmd_port"
    wait_until epmd listening "$epmd_port" || return 1
    launch rabbitmq env HOME="$home" RUNNING_UNDER_SYSTEMD=1 RABBITMQ_NODENAME=spindle@localhost \
        RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$1" RABBITMQ_DIST_PORT="$(free_port)" ERL_EPMD_PORT="$epmd_port" \
        RABBITMQ_CONFIG_FILE="$home/none" RABBITMQ_ENABLED_PLUGINS_FILE="$home/plugins" RABBITMQ_MNESIA_BASE="$home/data" \
        RABBITMQ_LOG_BASE="$home/log" RABBITMQ_LOGS=- RABBITMQ_PID_FILE="$home/pid" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}' \
        "$server"
}

# Plain and, by AUTH TLS, encrypted. One user, `spindle`.
start_ftp() {
    local home=$dir/ftp password
    password=$(random_password)
    make_home ftp
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
        -keyout "$home/key" -out "$home/cert" 2>>"$dir/ftp.log"
    cat "$home/cert" "$home/key" | write_for ftp "$home/pem"
    mkdir -p "$home/files"
    [ "$(id -u)" -ne 0 ] || chown "$(owner_of ftp):" "$home/files"
    write_for ftp "$home/server.py" <<PYTHON
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import TLS_FTPHandler
from pyftpdlib.servers import FTPServer

authorizer = DummyAuthorizer()
authorizer.add_user('spindle', '$password', '$home/files', perm='elradfmwMT')
handler = TLS_FTPHandler
handler.authorizer = authorizer
handler.certfile = '$home/pem'
FTPServer(('127.0.0.1', int(sys.argv[1])), handler).serve_forever()
PYTHON
    on_free_port ftp FTP_PASSWORD="$password"
}

launch_ftp() {
    # Not one of the PATH: the module is for the distribution's.
    launch ftp /usr/bin/python3 "$dir/ftp/server.py" "$1"
}

start_ldap() {
    local home=$dir/ldap password
    password=$(random_password)
    make_home ldap
    rm -rf "$home/data"
    mkdir "$home/data"
    [ "$(id -u)" -ne 0 ] || chown "$(owner_of ldap):" "$home/data"
    write_for ldap "$home/slapd.conf" <<CONF
include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile $home/pid
database mdb
suffix dc=spindle
rootdn cn=admin,dc=spindle
rootpw $password
directory $home/data
dbnosync
CONF
    write_for ldap "$home/base.ldif" <<LDIF
dn: dc=spindle
objectClass: dcObject
objectClass: organization
dc: spindle
o: Spindle
LDIF
    (as_owner ldap "$(program slapadd)" -f "$home/slapd.conf" -l "$home/base.ldif") >>"$dir/ldap.log" 2>&1
    on_free_port ldap LDAP_BASE=dc=spindle LDAP_USER=cn=admin,dc=spindle LDAP_PASSWORD="$password"
}

launch_ldap() {
    launch ldap "$(program slapd)" -f "$dir/ldap/slapd.conf" -h "ldap://127.0.0.1:$1" -d 0
}

start_imap() {
    local password
    password=$(random_password)
    make_home imap
    printf '%s:{PLAIN}%s\n' spindle "$password" visitor "$password" | write_for imap "$dir/imap/users"
    on_free_port imap IMAP_PASSWORD="$password"
}

launch_imap() {
    local home=$dir/imap user
    user=$(id -un)
    [ "$(id -u)" -ne 0 ] || user=$(owner_of imap)
    # Dovecot would keep its processes apart by users and roots; here all are one user, who may not change them.
    write_for imap "$home/dovecot.conf" <<CONF
base_dir = $home/run
state_dir = $home/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = $user
default_internal_group = $(id -gn "$user")
default_login_user = $user
first_valid_uid = 1
mail_location = maildir:~/mail
mail_fsync = never
mail_max_userip_connections = 100
auth_failure_delay = 0
service anvil {
  chroot =
  # Who had a wrong password once would wait at each login.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  service_count = 0
  inet_listener imap {
    port = $1
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = passwd-file
  args = $home/users
}
userdb {
  driver = static
  args = uid=$user gid=$(id -gn "$user") home=$home/%u
}
CONF
    launch imap "$(program dovecot)" -F -c "$home/dovecot.conf"
}

start_snmp() {
    make_home snmp
    printf '%s\n' 'rocommunity public 127.0.0.1' 'sysName spindle' 'sysContact anna@example.org' 'sysLocation here' |
        write_for snmp "$dir/snmp/snmpd.conf"
    on_free_port snmp
}

launch_snmp() {
    # By UDP, and by TCP: there it can be seen whether it listens.
    launch snmp env SNMP_PERSISTENT_DIR="$dir/snmp/state" "$(program snmpd)" -f -Lo -C -c "$dir/snmp/snmpd.conf" -I -smux \
        "udp:127.0.0.1:$1" "tcp:127.0.0.1:$1"
}

# It serves the one user that it runs as, who needs a shell, by a key.
start_ssh() {
    local home=$dir/ssh key
    make_home ssh
    for key in host client; do
        rm -f "$home/$key" "$home/$key.pub"
        ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f "$home/$key" >>"$dir/ssh.log" 2>&1
    done
    write_for ssh "$home/authorized" <"$home/client.pub"
    [ "$(id -u)" -ne 0 ] || chown "$(owner_of ssh):" "$home/host"
    on_free_port ssh SSH_USER="$( ([ "$(id -u)" -eq 0 ] && owner_of ssh) || id -un)" SSH_KEY="$home/client"
}

launch_ssh() {
    write_for ssh "$dir/ssh/sshd_config" <<CONF
ListenAddress 127.0.0.1
Port $1
HostKey $dir/ssh/host
AuthorizedKeysFile $dir/ssh/authorized
PidFile none
StrictModes no
UsePAM no
PubkeyAcceptedAlgorithms +ssh-rsa
HostKeyAlgorithms +ssh-rsa
MaxStartups 100
MaxSessions 50
Subsystem sftp internal-sftp
CONF
    launch ssh "$(program sshd)" -D -e -f "$dir/ssh/sshd_config"
}
