# Sourced by the proofs beside it: a machine with nothing on it, made of namespaces over a bare Debian 12 root.
# It has its own processes, mounts and network (a veth pair, masqueraded by this machine), so that a container
# engine started inside neither sees nor disturbs the one outside. Needs root, mmdebstrap, iproute2, iptables.

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# make_machine ROOT PACKAGES: a Debian 12 root holding the packages, and the authorities this machine's
# administrator added, lying where an administrator would put them.
make_machine() {
    local root=$1 packages=$2
    mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" bookworm "$root" \
        "deb http://deb.debian.org/debian bookworm main" \
        "deb http://deb.debian.org/debian bookworm-updates main" \
        "deb http://deb.debian.org/debian-security bookworm-security main"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
    cp --remove-destination /etc/resolv.conf "$root/etc/resolv.conf"
    echo "127.0.0.1 localhost fresh" > "$root/etc/hosts"
}

# connect_machine NAME: a network namespace of that name which reaches out through this machine.
# The subnet is from a range reserved for documentation of benchmarks, which no real network uses.
connect_machine() {
    local name=$1
    ip netns add "$name"
    ip link add "$name-out" type veth peer name eth0 netns "$name"
    ip addr add 198.18.77.1/30 dev "$name-out"
    ip link set "$name-out" up
    ip -n "$name" addr add 198.18.77.2/30 dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
    ip -n "$name" route add default via 198.18.77.1
    echo 1 > /proc/sys/net/ipv4/ip_forward
    iptables -w -t nat -A POSTROUTING -s 198.18.77.0/30 -j MASQUERADE
    iptables -w -I FORWARD -i "$name-out" -j ACCEPT
    iptables -w -I FORWARD -o "$name-out" -j ACCEPT
}

# disconnect_machine NAME: undo connect_machine, however far it came.
disconnect_machine() {
    local name=$1
    iptables -w -t nat -D POSTROUTING -s 198.18.77.0/30 -j MASQUERADE 2>/dev/null || true
    iptables -w -D FORWARD -i "$name-out" -j ACCEPT 2>/dev/null || true
    iptables -w -D FORWARD -o "$name-out" -j ACCEPT 2>/dev/null || true
    ip link del "$name-out" 2>/dev/null || true
    ip netns del "$name" 2>/dev/null || true
}

# run_in_machine ROOT NAME SCRIPT: run a script, which lies inside the root, as the machine's first process.
# When it ends, every process of the machine ends with it, and its mounts are gone.
run_in_machine() {
    local root=$1 name=$2 script=$3
    ip netns exec "$name" unshare --mount --pid --ipc --uts --fork --kill-child bash -euc '
        root=$1 script=$2
        mount --make-rprivate /
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount -t sysfs sysfs "$root/sys"
        mount -t tmpfs -o mode=755 tmpfs "$root/dev"
        for node in null zero full random urandom tty; do
            touch "$root/dev/$node"
            mount --bind "/dev/$node" "$root/dev/$node"
        done
        mkdir "$root/dev/pts" "$root/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        mount -t tmpfs -o mode=755 tmpfs "$root/run"
        mkdir "$root/run/lock"
        hostname fresh
        # A chroot is not enough: who enters a mount namespace from outside lands at its true root.
        cd "$root"
        pivot_root . mnt
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
            chroot . sh -c "umount -l /mnt && exec bash $script" < /dev/null
    ' machine "$root" "$script"
}
