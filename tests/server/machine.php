<?php
/*
 * Runs a command in a small virtual machine, where this one's limit of descriptors is too low: Debian's kernel for such machines, and
 * in memory nothing but the files that the command needs.
 */

declare(strict_types=1);

namespace ServerTests;

const KERNEL = __DIR__ . '/../../target/machine';

/** Returns a kernel, which is downloaded the first time; null if it cannot be had. It is not installed: nothing boots it by itself. */
function kernel(): ?string
{
    if (!glob(KERNEL . '/boot/vmlinuz-*')) {
        $download = 'name=$(apt-cache depends linux-image-cloud-amd64 | sed -n "s/.*Depends: \(linux-image-[0-9]\)/\1/p" | head -n 1)
            mkdir -p "$0" && cd "$0" && apt-get download "$name" && dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x --wildcards "./boot/vmlinuz-*"; rm -f linux-image-*.deb';
        exec('bash -c ' . escapeshellarg($download) . ' ' . escapeshellarg(KERNEL) . ' 2>&1');
    }
    return glob(KERNEL . '/boot/vmlinuz-*')[0] ?? null;
}

/** Returns what is missing for a machine, if anything is. */
function noMachine(): ?string
{
    if (php_uname('m') !== 'x86_64') return 'only x86-64 has one';
    foreach (['qemu-system-x86_64' => 'qemu-system-x86', 'busybox' => 'busybox-static'] as $program => $package) {
        if (trim((string) shell_exec("command -v $program")) === '') return "there is no $program (Debian: $package)";
    }
    return kernel() === null ? 'there is no kernel for it: apt-get download gives no linux-image-cloud-amd64' : null;
}

/**
 * Returns what the commands print, lines of a shell. $files are there under their names, and the libraries that they load.
 *
 * @param list<string> $files
 */
function inMachine(string $commands, array $files, int $gigabytes, int $seconds): string
{
    $root = WORK . '/root';
    mkdir("$root/bin", recursive: true);
    foreach ($files as $file) {
        preg_match_all('~/\S+(?= \(0x)~', (string) shell_exec('ldd ' . escapeshellarg($file) . ' 2>/dev/null'), $libraries);
        foreach ([$file, ...$libraries[0]] as $path) {
            is_dir($root . dirname($path)) || mkdir($root . dirname($path), recursive: true);
            is_file($root . $path) || copy($path, $root . $path) && chmod($root . $path, fileperms($path) & 0777);
        }
    }
    copy(trim((string) shell_exec('command -v busybox')), "$root/bin/busybox");
    $init = "#!/bin/busybox sh\n/bin/busybox --install -s /bin\nmkdir -p /proc /tmp /dev\nmount -t proc proc /proc\nip link set lo up\nulimit -n 1000000\n"
        . "echo booted\n$commands\npoweroff -f\n";
    file_put_contents("$root/init", $init);
    array_map(static fn(string $file): bool => chmod($file, 0755), ["$root/init", "$root/bin/busybox"]);
    exec('cd ' . escapeshellarg($root) . ' && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1 > ../initrd');
    $printed = '';
    // Where the kernel's virtualization is there, but does not work, the processor is emulated, which is ten times as slow.
    foreach (['kvm -cpu host' => 30, 'tcg,thread=multi -cpu max' => $seconds] as $how => $limit) {
        // Without huge pages where nothing asks for them: with them memory that is free counts as used. An emulated timer may be late
        // where much else runs, for which the kernel would not begin.
        $command = "qemu-system-x86_64 -accel $how -smp 2 -m {$gigabytes}G -nodefaults -no-reboot -nographic -serial stdio -kernel "
            . escapeshellarg((string) kernel()) . ' -initrd ' . escapeshellarg(WORK . '/initrd') . ' -append "console=ttyS0 quiet panic=-1 no_timer_check transparent_hugepage=madvise"';
        $process = proc_open("exec $command", [['file', '/dev/null', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
        stream_set_blocking($pipes[1], false);
        $printed = '';
        for ($end = time() + $limit; time() < $end && !feof($pipes[1]);) {
            $printed .= fread($pipes[1], 65536);
            str_contains($printed, 'booted') && $limit < $seconds && $end = time() + $limit = $seconds;
            usleep(50_000);
        }
        proc_terminate($process, SIGKILL);
        proc_close($process);
        if (str_contains($printed, 'booted')) return substr(strstr($printed, 'booted'), 6);
    }
    return $printed;
}
