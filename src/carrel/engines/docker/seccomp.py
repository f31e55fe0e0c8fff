"""The system calls allowed in sessions, as a seccomp profile for the engine.

A grouped allow-list: system calls of future kernels stay denied until they are reviewed. It is written for processes
without capabilities and omits calls that need one. docs/reference/isolation.md explains where and why it is narrower
than the engine's own profile; `tools/reference.py` writes it to docs/reference/seccomp.json.
"""

import json
from functools import cache
from typing import Any

_ALLOW, _REFUSE = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_EPERM, _ENOSYS = 1, 38

_ARCHITECTURES = {
    "SCMP_ARCH_X86_64": ("SCMP_ARCH_X86",),
    "SCMP_ARCH_AARCH64": ("SCMP_ARCH_ARM",),
    "SCMP_ARCH_PPC64LE": (),
    "SCMP_ARCH_RISCV64": (),
}
"""With their 32-bit architectures. Without x32, which is unused and doubles the system call surface."""

SOCKET_FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""Without AF_VSOCK, which crosses network namespaces and connects to the hypervisor, AF_ALG, and dozens of unused
protocols, each of which loads kernel code on demand.
"""

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW*: flags of clone that create namespaces, including user namespaces."""

_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF)
"""Personalities: Linux; 32 bits; another kernel name; both; no address randomisation, for debuggers; query."""

GROUPS: dict[str, str] = {
    "files": """
        access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
        fadvise64 fadvise64_64 arm_fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat
        fcntl fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs
        fstatfs64 fsync ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat ioctl lchown
        lchown32 lgetxattr link linkat listxattr listxattrat llistxattr lremovexattr lseek _llseek lsetxattr lstat
        lstat64 mkdir mkdirat mknod mknodat name_to_handle_at newfstatat open openat openat2 pread64 preadv preadv2
        pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr removexattrat rename renameat
        renameat2 rmdir sendfile sendfile64 setxattr setxattrat splice stat stat64 statfs statfs64 statx symlink
        symlinkat sync sync_file_range sync_file_range2 arm_sync_file_range syncfs tee truncate truncate64 umask unlink
        unlinkat utime utimensat utimensat_time64 utimes vmsplice write writev cachestat listmount statmount
    """,
    "waiting for files": """
        epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd
        eventfd2 inotify_add_watch inotify_init inotify_init1 inotify_rm_watch pipe pipe2 poll ppoll ppoll_time64
        pselect6 pselect6_time64 select _newselect signalfd signalfd4 io_cancel io_destroy io_getevents io_pgetevents
        io_pgetevents_time64 io_setup io_submit
    """,
    "processes": """
        arch_prctl capget capset execve execveat exit exit_group fork getcpu getegid getegid32 geteuid geteuid32 getgid
        getgid32 getgroups getgroups32 getpgid getpgrp getpid getppid getpriority getresgid getresgid32 getresuid
        getresuid32 getrlimit get_robust_list getrusage getsid gettid getuid getuid32 get_thread_area ioprio_get
        ioprio_set kcmp membarrier pause pidfd_open pidfd_getfd pidfd_send_signal prctl prlimit64 process_madvise
        process_mrelease restart_syscall riscv_flush_icache riscv_hwprobe rseq sched_getaffinity sched_getattr
        sched_getparam sched_get_priority_max sched_get_priority_min sched_getscheduler sched_rr_get_interval
        sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield
        setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setpgid setpriority setregid
        setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit set_robust_list setsid
        set_thread_area set_tid_address set_tls setuid setuid32 swapcontext sysinfo times ugetrlimit uname vfork wait4
        waitid waitpid breakpoint cacheflush modify_ldt
    """,
    "debuggers of one's own processes": "ptrace process_vm_readv process_vm_writev",
    "what narrows a process further": "landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp",
    "signals": """
        kill rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
        rt_sigtimedwait_time64 rt_tgsigqueueinfo sigaction sigaltstack signal sigpending sigprocmask sigreturn
        sigsuspend tgkill tkill
    """,
    "time": """
        alarm adjtimex clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64
        clock_nanosleep clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create
        timer_delete timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create
        timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64
    """,
    "memory": """
        brk get_mempolicy getrandom madvise map_shadow_stack mbind memfd_create memfd_secret mincore mlock mlock2
        mlockall mmap mmap2 move_pages mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free
        pkey_mprotect remap_file_pages set_mempolicy set_mempolicy_home_node
    """,
    "between processes": """
        futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake ipc mq_getsetattr mq_notify mq_open
        mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd
        semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget
    """,
    "network": """
        accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmmsg_time64
        recvmsg send sendmmsg sendmsg sendto setsockopt shutdown
    """,
}
"""Without io_uring, whose operations bypass this filter; socketcall, the 32-bit access to any socket family;
userfaultfd, which widens kernel races; and all calls that need a capability.
"""


@cache
def profile() -> str:
    """The profile as JSON, in the format of a container's security options."""
    rules: list[dict[str, Any]] = [{"names": names.split(), "action": _ALLOW} for names in GROUPS.values()]
    rules += [_when("socket", 0, family) for family in SOCKET_FAMILIES.values()]
    rules.append(_when("socketpair", 0, SOCKET_FAMILIES["AF_UNIX"]))
    rules += [_when("personality", 0, value) for value in _PERSONALITIES]
    rules.append(_when("clone", 0, _NEW_NAMESPACES, comparing="SCMP_CMP_MASKED_EQ"))
    # Its flags are in memory, invisible to filters; on this error programs fall back to clone.
    rules.append({"names": ["clone3"], "action": _REFUSE, "errnoRet": _ENOSYS})
    architectures = [
        {"architecture": name, "subArchitectures": list(others)} for name, others in _ARCHITECTURES.items()
    ]
    return json.dumps(
        {
            "defaultAction": _REFUSE,
            "defaultErrnoRet": _EPERM,
            "archMap": architectures,
            "syscalls": rules,
        }
    )


def _when(name: str, index: int, value: int, *, comparing: str = "SCMP_CMP_EQ") -> dict[str, Any]:
    """Allow the call if the argument has this value; for a mask: if none of its bits are set."""
    argument = {"index": index, "value": value, "valueTwo": 0, "op": comparing}
    return {"names": [name], "action": _ALLOW, "args": [argument]}
