# node.sh FOLDER ADDRESS "NETWORK GATEWAY"...: mounts and network of one node, inside its own namespaces.
folder=$1 address=$2
shift 2
mount --make-rshared /
mkdir -p /var/lib/kubelet "$folder/run" "$folder/cni" "$folder/sysctl" "$folder/volume-plugins"
# Paths that the programs have built in.
for path in /run /var/lib/kubelet /var/log; do mount -t tmpfs tmpfs "$path"; done
ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 up
ip route add default via 172.31.0.1
for route in "$@"; do ip route add "${route% *}" via "${route#* }"; done
sysctl -qw net.ipv4.ip_forward=1
echo "nameserver 172.31.0.1" >"$folder/resolv.conf"
# kubelet would set these for the whole machine: files with the values that it wants cover them.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=$folder/sysctl/$(echo "${setting%=*}" | tr / _)
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done
